// What goes wrong at the edges: bad configuration, bad files, failing I/O.
//
// Errors are thrown while a structure is made, saved or loaded; nothing on the
// way of a record throws. The sentence says what is wrong, where, and what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace weir {

enum class ErrorCode {
  Config,       // a parameter or a combination of parameters makes no sense
  BadState,     // a state file is damaged, foreign, forged or of a newer version
  Io,           // the system refused to read, write, sync or rename
  BadInput,     // a record is not what the options say, and the options say to stop then
  Unsupported,  // the structure cannot do this, by its nature
  NoMemory,     // the system has not enough memory for the request
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& sentence)
      : std::runtime_error(on_one_line(sentence)), code_(code) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  // A sentence may quote input: what would break the line or steer a terminal becomes '?'.
  static std::string on_one_line(std::string sentence) {
    for (char& c : sentence)
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
    return sentence;
  }
  ErrorCode code_;
};

}  // namespace weir
