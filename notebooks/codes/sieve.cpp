// Serial: primes by the sieve of Eratosthenes, in one thread.  ./sieve MILLIONS
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int count, char** arguments) {
  const long size = 1'000'000L * (count > 1 ? std::atol(arguments[1]) : 20);
  std::vector<bool> composite(size + 1);
  long primes = 0;
  for (long number = 2; number <= size; ++number) {
    if (composite[number]) continue;
    ++primes;
    for (long multiple = number * number; multiple <= size; multiple += number)
      composite[multiple] = true;
  }
  std::printf("%ld primes up to %ld\n", primes, size);
}
