// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Discrete Fourier transforms as real matrix products.
//
//   length          how
//   up to 64        a product with the matrix of the transform
//   d * m, d <= 64  d-point transforms of every m-th element, factors, m-point transforms (J. Cooley, J. Tukey)
//   other           a convolution with a chirp, by transforms whose length is a power of two (L. Bluestein)
//
// Products are what an engine does best: 32 multiplications in a register tile cost less than five passes over memory.
// A length is divided so that the multiplications and the passes together cost least (planOf).
//
// Complex numbers are pairs of real tensors here; complex tensors stand only at both ends. Of real numbers the first
// product takes the real part only, and where a real part is wanted, the last one computes no more. All tables are
// computed with the angle reduced in integers.

#include "latewood/compiler/Input/ExpandOperations.h"
#include "llvm/Support/MathExtras.h"
#include <complex>
#include <numbers>

using namespace mlir;

namespace latewood::input {

using Results = FailureOr<SmallVector<Value>>;
using Builder = ImplicitLocOpBuilder;

namespace {

constexpr int64_t maxDirect = 64;
// Without a small divisor, a matrix still beats three transforms of twice the length and more.
constexpr int64_t maxDirectPrime = 160;
// What a step costs besides its multiplications, in multiplications per element: factors and transpositions.
constexpr int64_t passCost = 24;
// Smaller matrices leave vectors partly empty.
constexpr int64_t fullVectors = 16;

struct Pair {
  Tensor re, im;
  bool isReal = false; // `im` is zero
};

/// What of a result is used. The other part of it may be anything.
enum class Wanted { Both, Imaginary };

using Complex = std::complex<double>;

/// exp(-2 pi i step / count)
Complex root(int64_t step, int64_t count) {
  double angle = -2 * std::numbers::pi * static_cast<double>(step % count) / static_cast<double>(count);
  return {std::cos(angle), std::sin(angle)};
}

Tensor realTable(const Tensor &like, ArrayRef<int64_t> shape, ArrayRef<Complex> numbers) {
  SmallVector<double> parts = llvm::map_to_vector(numbers, [](Complex number) { return number.real(); });
  return table(like.builder(), shape, like.element(), parts);
}

Tensor imaginaryTable(const Tensor &like, ArrayRef<int64_t> shape, ArrayRef<Complex> numbers) {
  SmallVector<double> parts = llvm::map_to_vector(numbers, [](Complex number) { return number.imag(); });
  return table(like.builder(), shape, like.element(), parts);
}

Pair map(const Pair &x, function_ref<Tensor(const Tensor &)> function) {
  return {function(x.re), function(x.im), x.isReal};
}

/// Element by element with numbers whose dimensions are the trailing ones.
Pair multiply(const Pair &x, ArrayRef<int64_t> shape, ArrayRef<Complex> numbers) {
  int64_t rank = x.re.rank(), from = rank - static_cast<int64_t>(shape.size());
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(from, rank));
  Tensor re = broadcastLike(realTable(x.re, shape, numbers), x.re, dims);
  Tensor im = broadcastLike(imaginaryTable(x.re, shape, numbers), x.re, dims);
  return {x.re * re - x.im * im, x.re * im + x.im * re};
}

/// Both parts beside each other, times the matrix ((C, S), (-S, C)) of the transform C + iS, or what is needed of it.
Pair transformDirectly(const Pair &x, Wanted wanted) {
  int64_t n = x.re.extent(1);
  int64_t inputs = x.isReal ? 1 : 2, first = wanted == Wanted::Both ? 0 : 1, outputs = 2 - first;
  SmallVector<double> matrix(inputs * n * outputs * n);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t k = 0; k < n; ++k) {
      Complex w = root(j * k, n);
      double parts[2][2] = {{w.real(), w.imag()}, {-w.imag(), w.real()}};
      for (int64_t input = 0; input < inputs; ++input)
        for (int64_t output = first; output < 2; ++output)
          matrix[(input * n + j) * outputs * n + (output - first) * n + k] = parts[input][output];
    }
  Tensor factors = table(x.re.builder(), {inputs * n, outputs * n}, x.re.element(), matrix);
  Tensor product = multiplyMatrices(x.isReal ? x.re : concatenate({x.re, x.im}, 1), factors);
  if (wanted == Wanted::Imaginary)
    return {product, product};
  return {slice(product, 1, 0, n), slice(product, 1, n, 2 * n)};
}

/// The cost of a transform per element, and the number of points of its first step; `n` itself if there is one only.
struct Plan {
  int64_t cost, divisor;
};

Plan planOf(int64_t n, DenseMap<int64_t, Plan> &known) {
  if (n <= maxDirect)
    return {std::max(n, fullVectors) + passCost, n};
  if (auto entry = known.find(n); entry != known.end())
    return entry->second;
  Plan best = {0, 1};
  for (int64_t divisor = 2; divisor <= maxDirect; ++divisor) {
    if (n % divisor != 0)
      continue;
    int64_t cost = std::max(divisor, fullVectors) + passCost + planOf(n / divisor, known).cost;
    if (best.divisor == 1 || cost <= best.cost)
      best = {cost, divisor};
  }
  // Without a divisor, a chirp takes two transforms of two to four times the length.
  if (best.divisor == 1 && n <= maxDirectPrime)
    best = {n + passCost, n};
  else if (best.divisor == 1)
    best.cost = 6 * planOf(static_cast<int64_t>(llvm::PowerOf2Ceil(2 * n - 1)), known).cost;
  return known[n] = best;
}

Pair transform(const Pair &x, Wanted wanted);

/// With j = j1 m + j2 and k = k1 + d k2: transforms over j1, factors w^(j2 k1), transforms over j2.
Pair transformByDivisor(const Pair &x, int64_t d, Wanted wanted) {
  int64_t rows = x.re.extent(0), n = x.re.extent(1), m = n / d;
  int64_t manyRows = multiplyExtents({rows, m}), fewerRows = multiplyExtents({rows, d});
  auto split = [&](const Tensor &part) {
    return reshape(transpose(reshape(part, {rows, d, m}), {0, 2, 1}), {manyRows, d});
  };
  Pair inner = map(transformDirectly(map(x, split), Wanted::Both),
                   [&](const Tensor &part) { return reshape(part, {rows, m, d}); });
  SmallVector<Complex> factors;
  for (int64_t j = 0; j < m; ++j)
    for (int64_t k = 0; k < d; ++k)
      factors.push_back(root(j * k, n));
  inner = multiply(inner, {m, d}, factors);
  auto join = [&](const Tensor &part) { return reshape(transpose(part, {0, 2, 1}), {fewerRows, m}); };
  Pair outer = transform(map(inner, join), wanted);
  return map(outer,
             [&](const Tensor &part) { return reshape(transpose(reshape(part, {rows, d, m}), {0, 2, 1}), {rows, n}); });
}

/// The transform of a list whose length is a power of two, in place.
void transformNumbers(std::vector<Complex> &numbers) {
  int64_t n = numbers.size();
  if (n == 1)
    return;
  std::vector<Complex> even(n / 2), odd(n / 2);
  for (int64_t i = 0; i < n / 2; ++i) {
    even[i] = numbers[2 * i];
    odd[i] = numbers[2 * i + 1];
  }
  transformNumbers(even);
  transformNumbers(odd);
  for (int64_t i = 0; i < n / 2; ++i) {
    Complex turned = root(i, n) * odd[i];
    numbers[i] = even[i] + turned;
    numbers[i + n / 2] = even[i] - turned;
  }
}

/// jk = (j^2 + k^2 - (j - k)^2) / 2 makes the transform a convolution with the chirp exp(pi i j^2 / n).
Pair transformByChirp(const Pair &x) {
  int64_t n = x.re.extent(1);
  int64_t length = static_cast<int64_t>(llvm::PowerOf2Ceil(2 * n - 1));
  SmallVector<Complex> chirp;
  for (int64_t j = 0; j < n; ++j)
    chirp.push_back(root(static_cast<int64_t>(static_cast<__int128>(j) * j % (2 * n)), 2 * n));
  std::vector<Complex> kernel(length);
  for (int64_t j = 0; j < n; ++j)
    kernel[j] = kernel[(length - j) % length] = std::conj(chirp[j]);
  transformNumbers(kernel);
  // The scale of the inverse transform goes into the kernel.
  for (Complex &number : kernel)
    number /= static_cast<double>(length);
  Pair padded = map(multiply(x, {n}, chirp), [&](const Tensor &part) { return padZeros(part, 1, 0, length - n); });
  Pair product = multiply(transform(padded, Wanted::Both), {length}, ArrayRef(kernel));
  // Exchanging the parts before and after makes a transform its inverse.
  Pair back = transform({product.im, product.re}, Wanted::Both);
  Pair convolved = map({back.im, back.re}, [&](const Tensor &part) { return slice(part, 1, 0, n); });
  return multiply(convolved, {n}, chirp);
}

/// The transform of each row.
Pair transform(const Pair &x, Wanted wanted) {
  int64_t n = x.re.extent(1);
  if (n <= 1)
    return x;
  DenseMap<int64_t, Plan> known;
  int64_t divisor = planOf(n, known).divisor;
  if (divisor == n)
    return transformDirectly(x, wanted);
  return divisor > 1 ? transformByDivisor(x, divisor, wanted) : transformByChirp(x);
}

/// The transform along one dimension of tensors of any rank, or its inverse. Of a `realInverse` the real part is used.
Pair transformAlong(const Pair &x, int64_t dim, bool inverse, bool realInverse = false) {
  SmallVector<int64_t> shape(x.re.shape()), order = llvm::to_vector(llvm::seq<int64_t>(0, x.re.rank()));
  int64_t n = shape[dim], last = x.re.rank() - 1, rows = multiplyExtents(shape);
  rows = isDynamic(rows) ? rows : rows / n;
  std::swap(order[dim], order[last]);
  SmallVector<int64_t> moved(shape);
  std::swap(moved[dim], moved[last]);
  auto toRows = [&](const Tensor &part) { return reshape(dim == last ? part : transpose(part, order), {rows, n}); };
  auto fromRows = [&](const Tensor &part) {
    Tensor result = reshape(part, moved);
    return dim == last ? result : transpose(result, order);
  };
  Pair source = map(x, toRows);
  if (!inverse)
    return map(transform(source, Wanted::Both), fromRows);
  Pair exchanged = transform({source.im, source.re}, realInverse ? Wanted::Imaginary : Wanted::Both);
  double scale = 1 / static_cast<double>(n);
  return map({exchanged.im * scale, exchanged.re * scale}, fromRows);
}

Results expandFft(Builder &b, Operation *op) {
  using stablehlo::FftType;
  auto fft = cast<stablehlo::FftOp>(op);
  Tensor operand(b, fft.getOperand());
  auto type = cast<RankedTensorType>(fft.getType());
  if (isKnownEmpty(type) || isKnownEmpty(operand.type()))
    return SmallVector<Value>{splat(b, type, 0.0)};
  Type part = stablehlo::getRealType(operand.element());
  if (!part.isF32() && !part.isF64())
    return op->emitError() << "a Fourier transform of element type " << operand.element() << " is not supported";
  int64_t rank = operand.rank(), count = fft.getFftLength().size(), length = fft.getFftLength().back();
  FftType kind = fft.getFftType();
  // Lengths are attributes: an extent that the type does not know is known all the same, and the host checks it.
  SmallVector<int64_t> known(operand.shape());
  for (auto [i, extent] : llvm::enumerate(fft.getFftLength()))
    known[rank - count + i] = kind == FftType::IRFFT && static_cast<int64_t>(i) == count - 1 ? extent / 2 + 1 : extent;
  if (operand.shape() != ArrayRef(known))
    operand = Tensor(b, stablehlo::ConvertOp::create(b, operand.type().clone(known), operand));
  bool inverse = kind == FftType::IFFT || kind == FftType::IRFFT;
  Pair x;
  if (kind == FftType::RFFT) {
    x = {operand, operand.like(0.0), /*isReal=*/true};
  } else {
    Type parts = operand.type().clone(part);
    x = {Tensor(b, stablehlo::RealOp::create(b, parts, operand)),
         Tensor(b, stablehlo::ImagOp::create(b, parts, operand))};
  }
  // The real side's dimension comes first on the way in, and last on the way out.
  if (kind != FftType::IRFFT)
    x = transformAlong(x, rank - 1, inverse);
  if (kind == FftType::RFFT)
    x = map(x, [&](const Tensor &side) { return slice(side, rank - 1, 0, length / 2 + 1); });
  for (int64_t dim = rank - count; dim < rank - 1; ++dim)
    x = transformAlong(x, dim, inverse);
  if (kind == FftType::IRFFT) {
    // The half that is not stored is the conjugate of the other, in reverse.
    int64_t stored = length / 2 + 1;
    auto mirror = [&](const Tensor &side) {
      return reverse(slice(side, rank - 1, 1, length - stored + 1), {rank - 1});
    };
    if (length > stored)
      x = {concatenate({x.re, mirror(x.re)}, rank - 1), concatenate({x.im, -mirror(x.im)}, rank - 1)};
    return SmallVector<Value>{transformAlong(x, rank - 1, inverse, /*realInverse=*/true).re};
  }
  return SmallVector<Value>{stablehlo::ComplexOp::create(b, x.re.type().clone(type.getElementType()), x.re, x.im)};
}

} // namespace

void addFourierExpansions(ExpansionTable &table) { table.add<stablehlo::FftOp>(expandFft, Dynamic::All); }

} // namespace latewood::input
