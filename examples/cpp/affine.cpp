// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads the executable of examples/affine.mlir and calls it: with a result that the library allocates, and into a
// buffer of the caller.

#include <latewood/runtime/Session.h>

#include <iostream>

using namespace latewood::runtime;

namespace {
void print(const Value &value) {
  const auto &matrix = static_cast<const MemRefValue &>(value);
  const auto *elements = static_cast<const float *>(matrix.data());
  for (int64_t i = 0; i < matrix.elementCount(); ++i)
    std::cout << elements[i] << ((i + 1) % matrix.shape()[1] ? ' ' : '\n');
}

Status run(const char *path) {
  LATEWOOD_ASSIGN_OR_RETURN(Ref<Client> client, Client::create());
  LATEWOOD_ASSIGN_OR_RETURN(Ref<Executable> executable, Executable::load(path));
  LATEWOOD_ASSIGN_OR_RETURN(Ref<Session> session, Session::create(client, executable));
  for (const FunctionSignature &function : executable->functions())
    std::cout << function.str() << "\n";

  const float x[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}}, w[3][2] = {{1, 2}, {3, 4}, {5, 6}},
              b[2] = {10, 20};
  const int64_t xShape[] = {4, 3}, wShape[] = {3, 2}, bShape[] = {2}, outShape[] = {4, 2};
  std::vector<Ref<Value>> arguments(3);
  LATEWOOD_ASSIGN_OR_RETURN(arguments[0], client->createMemRef(x, ElementType::f32, xShape));
  LATEWOOD_ASSIGN_OR_RETURN(arguments[1], client->createMemRef(w, ElementType::f32, wShape));
  LATEWOOD_ASSIGN_OR_RETURN(arguments[2], client->createMemRef(b, ElementType::f32, bShape));

  LATEWOOD_ASSIGN_OR_RETURN(std::vector<Ref<Value>> results, session->execute("main", arguments));
  print(*results[0]);

  LATEWOOD_ASSIGN_OR_RETURN(Ref<MemRefValue> destination, client->createMemRef(ElementType::f32, outShape));
  const Ref<Value> outputs[] = {destination};
  LATEWOOD_ASSIGN_OR_RETURN(results, session->execute("main", arguments, outputs));
  std::cout << "in place: " << (results[0].get() == destination.get()) << "\n";

  // A result needs neither its session nor its executable.
  session.reset();
  executable.reset();
  print(*results[0]);
  return okStatus();
}
} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: affine FILE.lwx\n";
    return 2;
  }
  Status status = run(argv[1]);
  if (!status.isOk())
    std::cerr << "affine: " << status.str() << "\n";
  return status.isOk() ? 0 : 1;
}
