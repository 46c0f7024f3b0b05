// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// latewood-run: calls a function of an executable file, from the command line, with arrays from NumPy's files. Links
// the runtime only. Everything that a user can get wrong ends in one message on standard error and exit status 1.

#include "latewood/runtime/Session.h"
#include "latewood/runtime/Trace.h"
#include "latewood/tools/Npy.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

using namespace latewood;
using namespace latewood::runtime;

namespace {
constexpr const char *usage = R"(usage: latewood-run FILE.lwx [OPTION…]

Calls a function of a compiled program.

  --function NAME     the function to call (default: main)
  --input FILE        a .npy file: the next argument; a .npz file: all of its arrays, which become arguments by
                      name (argument names, or in0 in1 …, arg0 …, arr_0 …), or else in order. May be repeated.
  --random[=SEED]     random numbers for the arguments that no input gives (dynamic extents are 1, or their optimum)
  --output FILE       writes the results: .npz (out0, out1, … or the results' names), or .npy for a single one
  --repeat N          calls the function N times and prints what a call takes
  --destinations      gives the result buffers to the function instead of letting it allocate them
  --threads N         threads for parallel loops (default: LATEWOOD_NUM_THREADS, or all processors)
  --verify=full       checks the whole file, constants included
  --inspect           prints what is in the file, and calls nothing; works for files for other machines, too
  --trace FILE        writes what happened when, on which thread, as JSON for chrome://tracing and Perfetto
  --statistics        prints calls, time, bytes, and what the runtime allocated
  --help
)";

struct Options {
  std::string file, function = "main", output, trace;
  std::vector<std::string> inputs;
  std::optional<uint64_t> seed;
  int64_t repeat = 1;
  int32_t threads = 0;
  bool verifyFully = false, inspect = false, statistics = false, destinations = false, help = false;
};

using Clock = std::chrono::steady_clock;

/// When this process was started, before its libraries were loaded: the kernel says so, to a hundredth of a second. The
/// time now where it does not.
Clock::time_point startOfProcess() {
  Clock::time_point now = Clock::now();
  std::ifstream file("/proc/self/stat");
  std::string text(std::istreambuf_iterator<char>(file), {});
  // The second field is the program's name in parentheses, which may contain anything; the start is the 22nd.
  size_t position = text.rfind(')');
  std::istringstream fields(position == std::string::npos ? "" : text.substr(position + 1));
  std::string field;
  for (int i = 3; i < 22; ++i)
    fields >> field;
  long long ticks = 0;
  timespec uptime;
  if (!(fields >> ticks) || clock_gettime(CLOCK_BOOTTIME, &uptime) != 0)
    return now;
  auto sinceBoot = std::chrono::seconds(uptime.tv_sec) + std::chrono::nanoseconds(uptime.tv_nsec);
  auto age = sinceBoot - std::chrono::nanoseconds(ticks * (1000000000 / sysconf(_SC_CLK_TCK)));
  return age.count() > 0 ? now - std::chrono::duration_cast<Clock::duration>(age) : now;
}

double microsecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

template <typename T>
Status parseNumber(std::string_view name, std::string_view text, T least, T &number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least)
    return invalidArgument(std::string(name) + ": expected a number from " + std::to_string(least) + ", got '" +
                           std::string(text) + "'");
  return okStatus();
}

Status parseOptions(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (!argument.starts_with("-") || argument == "-") {
      if (!options.file.empty())
        return invalidArgument("expected one executable file, got '" + options.file + "' and '" +
                               std::string(argument) + "'");
      options.file = argument;
      continue;
    }
    size_t equals = argument.find('=');
    std::string_view name = argument.substr(0, equals);
    std::optional<std::string_view> value;
    if (equals != std::string_view::npos)
      value = argument.substr(equals + 1);
    // The value of an option that needs one is behind '=' or in the next argument.
    auto required = [&](std::string_view &text) -> Status {
      if (!value && i + 1 < argc)
        value = argv[++i];
      if (!value)
        return invalidArgument("option " + std::string(name) + " needs a value");
      text = *value;
      return okStatus();
    };
    auto flag = [&](bool &target) -> Status {
      target = true;
      return value ? invalidArgument("option " + std::string(name) + " takes no value") : okStatus();
    };
    std::string_view text;
    if (name == "--function") {
      LATEWOOD_RETURN_IF_ERROR(required(text));
      options.function = text;
    } else if (name == "--input") {
      LATEWOOD_RETURN_IF_ERROR(required(text));
      options.inputs.emplace_back(text);
    } else if (name == "--output") {
      LATEWOOD_RETURN_IF_ERROR(required(text));
      options.output = text;
    } else if (name == "--trace") {
      LATEWOOD_RETURN_IF_ERROR(required(text));
      options.trace = text;
    } else if (name == "--repeat") {
      LATEWOOD_RETURN_IF_ERROR(required(text));
      LATEWOOD_RETURN_IF_ERROR(parseNumber<int64_t>(name, text, 1, options.repeat));
    } else if (name == "--threads") {
      LATEWOOD_RETURN_IF_ERROR(required(text));
      LATEWOOD_RETURN_IF_ERROR(parseNumber<int32_t>(name, text, 1, options.threads));
    } else if (name == "--random") {
      options.seed = 0;
      if (value)
        LATEWOOD_RETURN_IF_ERROR(parseNumber<uint64_t>(name, *value, 0, *options.seed));
    } else if (name == "--verify") {
      LATEWOOD_RETURN_IF_ERROR(required(text));
      if (text != "full" && text != "code")
        return invalidArgument("--verify: expected 'full' or 'code', got '" + std::string(text) + "'");
      options.verifyFully = text == "full";
    } else if (name == "--inspect") {
      LATEWOOD_RETURN_IF_ERROR(flag(options.inspect));
    } else if (name == "--statistics") {
      LATEWOOD_RETURN_IF_ERROR(flag(options.statistics));
    } else if (name == "--destinations") {
      LATEWOOD_RETURN_IF_ERROR(flag(options.destinations));
    } else if (name == "--help") {
      LATEWOOD_RETURN_IF_ERROR(flag(options.help));
    } else {
      return invalidArgument("there is no option '" + std::string(name) + "'; see --help");
    }
  }
  if (options.file.empty() && !options.help)
    return invalidArgument("expected an executable file; see --help");
  return okStatus();
}

/// The number at the end of "in3", "arg3" or "arr_3", or -1.
int64_t argumentNumber(std::string_view name) {
  for (std::string_view prefix : {"in", "arg", "arr_"}) {
    if (!name.starts_with(prefix))
      continue;
    std::string_view digits = name.substr(prefix.size());
    int64_t number = -1;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (!digits.empty() && error == std::errc() && end == digits.data() + digits.size() && number >= 0)
      return number;
  }
  return -1;
}

/// Puts the arrays of one archive into the arguments' places.
Status assignArchive(const FunctionSignature &function, std::vector<tools::Array> arrays, const std::string &path,
                     std::vector<std::optional<tools::Array>> &places) {
  std::map<std::string, size_t> byName;
  for (size_t i = 0; i < function.arguments.size(); ++i)
    if (!function.arguments[i].name.empty())
      byName[function.arguments[i].name] = i;
  // By name if at least one array has the name of an argument, else by number, else in order.
  auto isNamed = [&](const tools::Array &array) { return byName.contains(array.name); };
  auto isNumbered = [&](const tools::Array &array) { return argumentNumber(array.name) >= 0; };
  bool useNames = std::any_of(arrays.begin(), arrays.end(), isNamed);
  bool useNumbers = !useNames && std::any_of(arrays.begin(), arrays.end(), isNumbered);
  size_t next = 0;
  while (next < places.size() && places[next])
    ++next;
  for (tools::Array &array : arrays) {
    size_t place = next;
    if (useNames) {
      if (!isNamed(array))
        continue;
      place = byName[array.name];
    } else if (useNumbers) {
      if (!isNumbered(array))
        continue;
      place = static_cast<size_t>(argumentNumber(array.name));
    } else {
      ++next;
    }
    if (place >= places.size())
      return invalidArgument("'" + path + "': function '" + function.name + "' expects " +
                             std::to_string(places.size()) + " arguments, and " +
                             (array.name.empty() ? "this" : "'" + array.name + "'") + " would be argument " +
                             std::to_string(place));
    places[place] = std::move(array);
  }
  return okStatus();
}

/// Small xorshift generator: the same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15u + 0x1234567u) {}
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
  /// In (-1, 1).
  double real() { return static_cast<double>(static_cast<int64_t>(next()) >> 11) / static_cast<double>(1ll << 52); }

private:
  uint64_t state;
};

uint16_t toBFloat16(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, 4);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// Numbers that suit the type: reals in (-1, 1), small non-negative integers (which are valid indices of anything that
/// is not tiny), bytes of no particular value for the 8-bit floats.
void fill(MemRefValue &value, Random &random) {
  ElementType type = value.elementType();
  int64_t count = value.elementCount();
  auto each = [&]<typename T>(T *data, auto make) {
    for (int64_t i = 0; i < count; ++i)
      data[i] = static_cast<T>(make());
  };
  auto real = [&] { return random.real(); };
  auto integer = [&] { return random.next() % 8; };
  void *data = value.data();
  switch (type) {
  case ElementType::complex_f32:
    count *= 2;
    [[fallthrough]];
  case ElementType::f32:
    return each(static_cast<float *>(data), real);
  case ElementType::complex_f64:
    count *= 2;
    [[fallthrough]];
  case ElementType::f64:
    return each(static_cast<double *>(data), real);
  case ElementType::f16:
    return each(static_cast<_Float16 *>(data), real);
  case ElementType::bf16:
    return each(static_cast<uint16_t *>(data), [&] { return toBFloat16(static_cast<float>(random.real())); });
  default:
    break;
  }
  uint64_t values = bitsOf(type) < 3 ? uint64_t(1) << (bitsOf(type) - 1) : 8;
  auto small = [&] { return bitsOf(type) == 1 ? random.next() % 2 : random.next() % values; };
  switch (bytesOf(type)) {
  case 1:
    return each(static_cast<uint8_t *>(data), small);
  case 2:
    return each(static_cast<uint16_t *>(data), integer);
  case 4:
    return each(static_cast<uint32_t *>(data), integer);
  default:
    return each(static_cast<uint64_t *>(data), integer);
  }
}

StatusOr<std::vector<Ref<Value>>> makeArguments(Client &client, const FunctionSignature &function,
                                                const Options &options) {
  std::vector<std::optional<tools::Array>> places(function.arguments.size());
  for (const std::string &path : options.inputs) {
    LATEWOOD_ASSIGN_OR_RETURN(std::vector<tools::Array> arrays, tools::readArrays(client, path));
    LATEWOOD_RETURN_IF_ERROR(assignArchive(function, std::move(arrays), path, places));
  }
  std::vector<Ref<Value>> arguments;
  Random random(options.seed.value_or(0));
  size_t given =
      static_cast<size_t>(std::count_if(places.begin(), places.end(), [](auto &p) { return p.has_value(); }));
  for (size_t i = 0; i < places.size(); ++i) {
    const ValueSignature &signature = function.arguments[i];
    std::string name = "function '" + function.name + "', argument " + std::to_string(i);
    if (places[i]) {
      StatusOr<Ref<Value>> value = tools::resolve(*places[i], signature.elementType);
      if (!value.isOk())
        return std::move(value).status().withContext(name);
      arguments.push_back(*std::move(value));
      continue;
    }
    if (!options.seed)
      return invalidArgument("function '" + function.name + "' expects " + std::to_string(places.size()) +
                             " arguments, got " + std::to_string(given) + "; argument " + std::to_string(i) + " (" +
                             signature.str() + ") is missing. Give it with --input, or use --random");
    std::vector<int64_t> shape = signature.shape;
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] == dynamicExtent)
        shape[d] = signature.opt.empty() ? 1 : signature.opt[d];
    LATEWOOD_ASSIGN_OR_RETURN(Ref<MemRefValue> value, client.createMemRef(signature.elementType, shape));
    fill(*value, random);
    arguments.push_back(value);
  }
  return arguments;
}

/// "argument 3   memref<4x8xf32>"; of very many, the first ones.
void printShapes(const char *what, std::span<const Ref<Value>> values) {
  constexpr size_t most = 24;
  for (size_t i = 0; i < std::min(values.size(), most); ++i)
    std::printf("%-8s %-3zu %s\n", what, i, asMemRef(values[i].get())->str().c_str());
  if (values.size() > most)
    std::printf("… and %zu more\n", values.size() - most);
}

void printTimes(std::vector<double> &times, double startup) {
  // The kernel counts starts of processes in steps of 10 ms, and rounds down.
  std::printf("first call   %.3f ms, at most %.0f ms after the start of the program\n", times[0] / 1000,
              startup / 1000);
  if (times.size() == 1)
    return;
  // The first call warms caches, threads and memory: it is shown, and not counted.
  times.erase(times.begin());
  std::sort(times.begin(), times.end());
  double sum = 0;
  for (double time : times)
    sum += time;
  const char *unit = times[0] < 1000 ? "us" : "ms";
  double scale = times[0] < 1000 ? 1 : 1000;
  std::printf("%zu more      min %.3f, median %.3f, mean %.3f, max %.3f %s\n", times.size(), times[0] / scale,
              times[times.size() / 2] / scale, sum / static_cast<double>(times.size()) / scale, times.back() / scale,
              unit);
}

void printStatistics(const SessionStatistics &statistics) {
  auto line = [](const char *name, const AllocationCounter &counter) {
    std::printf("%-12s %llu allocations, %llu bytes; %lld bytes at most at once\n", name,
                static_cast<unsigned long long>(counter.count), static_cast<unsigned long long>(counter.bytes),
                static_cast<long long>(counter.peakBytes));
  };
  std::printf("calls        %llu, and %llu failed; %.3f ms in all, %.3f ms the longest\n",
              static_cast<unsigned long long>(statistics.calls),
              static_cast<unsigned long long>(statistics.failedCalls),
              static_cast<double>(statistics.callNanoseconds) * 1e-6,
              static_cast<double>(statistics.longestCallNanoseconds) * 1e-6);
  std::printf("bytes        %llu of arguments, %llu of results\n",
              static_cast<unsigned long long>(statistics.argumentBytes),
              static_cast<unsigned long long>(statistics.resultBytes));
  line("results", statistics.results);
  line("temporaries", statistics.temporaries);
  line("staging", statistics.staging);
  std::printf("workspace    %lld bytes; scratch %lld bytes for each thread\n",
              static_cast<long long>(statistics.workspaceBytes),
              static_cast<long long>(statistics.scratchBytesPerThread));
  std::printf("system       %llu allocations, %lld bytes at most at once\n",
              static_cast<unsigned long long>(statistics.system.allocations),
              static_cast<long long>(statistics.system.peakBytes));
}

Status run(const Options &options, Clock::time_point start) {
  LoadOptions loadOptions;
  loadOptions.verifyFully = options.verifyFully;
  loadOptions.inspectOnly = options.inspect;
  LATEWOOD_ASSIGN_OR_RETURN(Ref<Executable> executable, Executable::load(options.file, loadOptions));
  if (options.inspect) {
    std::fputs(executable->describe().c_str(), stdout);
    return okStatus();
  }
  LATEWOOD_ASSIGN_OR_RETURN(const FunctionSignature *function, executable->getFunction(options.function));
  ClientOptions clientOptions;
  clientOptions.threadCount = options.threads;
  LATEWOOD_ASSIGN_OR_RETURN(Ref<Client> client, Client::create(clientOptions));
  LATEWOOD_ASSIGN_OR_RETURN(Ref<Session> session, Session::create(client, executable));
  LATEWOOD_ASSIGN_OR_RETURN(std::vector<Ref<Value>> arguments, makeArguments(*client, *function, options));
  std::vector<Value *> values;
  for (const Ref<Value> &argument : arguments)
    values.push_back(argument.get());
  printShapes("argument", arguments);

  std::vector<Ref<Value>> results(function->results.size()), destinations(results.size());
  if (options.destinations) {
    // Most dynamic shapes follow from those of the arguments.
    LATEWOOD_ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> shapes,
                              session->outputShapes(function->name, arguments));
    for (size_t i = 0; i < destinations.size(); ++i) {
      if (std::any_of(shapes[i].begin(), shapes[i].end(), [](int64_t extent) { return extent < 0; }))
        return invalidArgument("--destinations: result " + std::to_string(i) + " has the shape " +
                               shapeText(shapes[i]) + ", which is known only after the call");
      LATEWOOD_ASSIGN_OR_RETURN(destinations[i], client->createMemRef(function->results[i].elementType, shapes[i]));
    }
  }
  std::vector<double> times;
  times.reserve(static_cast<size_t>(std::min<int64_t>(options.repeat, 1 << 16)));
  double startup = 0;
  for (int64_t i = 0; i < options.repeat; ++i) {
    // Dropping the last results is what lets their memory be used again.
    results = destinations;
    Clock::time_point begin = Clock::now();
    LATEWOOD_RETURN_IF_ERROR(session->call(*function, values, results));
    times.push_back(microsecondsSince(begin));
    if (i == 0)
      startup = microsecondsSince(start);
  }
  printShapes("result", results);
  printTimes(times, startup);
  if (options.statistics)
    printStatistics(session->statistics());

  if (options.output.empty())
    return okStatus();
  std::vector<tools::NamedValue> named;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string &name = function->results[i].name;
    named.push_back({name.empty() ? "out" + std::to_string(i) : name, results[i]});
  }
  return tools::writeArrays(options.output, named);
}
} // namespace

int main(int argc, char **argv) {
  Clock::time_point start = startOfProcess();
  Options options;
  Status status = parseOptions(argc, argv, options);
  if (status.isOk() && !options.help && !options.trace.empty())
    status = Trace::start();
  try {
    if (status.isOk() && options.help)
      std::fputs(usage, stdout);
    else if (status.isOk())
      status = run(options, start);
  } catch (const std::bad_alloc &) {
    status = outOfMemory("there is not enough memory for what the files hold");
  }
  // Also of a run that failed: the reason may be in it.
  if (Trace::isOn())
    if (Status written = Trace::stop(options.trace); status.isOk())
      status = std::move(written);
  if (std::fflush(stdout) != 0 && status.isOk())
    status = unavailable(std::string("cannot write standard output: ") + std::strerror(errno));
  if (status.isOk())
    return 0;
  std::fprintf(stderr, "latewood-run: error: %s\n", status.str().c_str());
  return 1;
}
