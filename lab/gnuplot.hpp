// The one program the lab starts: gnuplot, which turns a script into a picture.
#pragma once

#include <string>

namespace weir::lab {

// What gnuplot writes for the script. Throws Error(Io) where there is no gnuplot, with the way to
// get it, or where it fails, with its words.
std::string gnuplot(const std::string& script);

}  // namespace weir::lab
