# The share of repeats missed against their distance, from distances.csv.
#   gnuplot -e "folder='DIR'" lab/charts/distances.gp     writes DIR/distances.svg
set terminal svg size 760,460 font "Helvetica,14" background rgb "white"
set output folder."/distances.svg"
set datafile separator ","
set key outside right top spacing 1.2
set border 3 lw 0.8
set tics nomirror out
set grid ytics lc rgb "#e4e4e4"
set xlabel "distance, in keys that a store without waste would hold"
set ylabel "repeats missed (%)"
set xrange [0:2]
set yrange [0:100]
file = folder."/distances.csv"
pick(name) = sprintf("<awk -F, -v OFS=, 'NR > 1 { gsub(/\"/, \"\"); f = $1; s = 2; if (f ~ /:/ && $2 !~ /^[0-9]+$/) { f = f \",\" $2; s = 3 } if (f == \"%s\") print $(s+1), $(s+2) }' %s", name, file)
plot pick("weir") using 1:2 with lines lw 2.5 lc rgb "#0b5fa5" title "weir", \
     pick("weir:e=1") using 1:2 with lines lw 2.5 lc rgb "#3d9be0" title "weir, e=1", \
     pick("weir:a=2,e=3") using 1:2 with lines lw 2.5 dt 2 lc rgb "#0b5fa5" title "weir, a=2, e=3", \
     pick("stable") using 1:2 with lines lw 1.6 lc rgb "#c0392b" title "SBF", \
     pick("rsbf") using 1:2 with lines lw 1.6 dt 4 lc rgb "#e67e22" title "RSBF", \
     pick("qht") using 1:2 with lines lw 1.6 lc rgb "#7f8c8d" title "QHT", \
     pick("a2") using 1:2 with lines lw 1.6 lc rgb "#27ae60" title "A2", \
     pick("apbf") using 1:2 with lines lw 1.6 dt 2 lc rgb "#27ae60" title "APBF"
