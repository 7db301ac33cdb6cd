package dev.tollgate.core.testing.limiter;

import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.FaultEffects;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.Setting;
import dev.tollgate.lawbook.Terms;
import dev.tollgate.lawbook.TokenCounts;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;

/** Tollgate's buckets with planted faults that the law book must find. */
public final class PlantedFaults {
  private PlantedFaults() {}

  /** Admits one caller without a token for each caller with a token. */
  public static Limiter.Maker admittingTwiceAsMuch() {
    return planted(
        0,
        correct ->
            new FaultyLimiter(correct) {
              private final Map<String, Long> owed = new HashMap<>();

              @Override
              public Claim claim(String tenant) {
                Claim claim = super.claim(tenant);
                if (claim instanceof Claim.Refused && owed.getOrDefault(tenant, 0L) > 0) {
                  owed.merge(tenant, -1L, Long::sum);
                  return Claim.admitted();
                }
                owed.merge(tenant, claim instanceof Claim.Admitted ? 1L : 0L, Long::sum);
                return claim;
              }
            });
  }

  /** Admits callers without a token after a fill request has failed. */
  public static Limiter.Maker admittingWhenFillsCannotBeRequested() {
    return planted(
        300,
        correct ->
            new FaultyLimiter(correct) {
              private final Set<String> failing = new HashSet<>();

              @Override
              public Claim claim(String tenant) {
                long failed = correct.failedRequests();
                Claim claim = super.claim(tenant);
                if (correct.failedRequests() > failed) {
                  failing.add(tenant);
                }
                if (claim instanceof Claim.Admitted) {
                  failing.remove(tenant);
                }
                boolean admits = claim instanceof Claim.Refused && failing.contains(tenant);
                return admits ? Claim.admitted() : claim;
              }
            });
  }

  /** Admits by prefetched tokens that are leased and not spent. */
  public static Limiter.Maker handingOutUnspentTokens() {
    return prefetching("settle", (queue, bucket, leases) -> List.of());
  }

  /** Returns leased prefetched tokens, and adds them to the bucket again. */
  public static Limiter.Maker returningPrefetchedTwice() {
    return prefetching(
        "giveBack",
        (queue, bucket, leases) -> {
          Instant any = leases.get(0).endsAt().minusSeconds(60);
          queue.put(
              bucket, leases.stream().map(lease -> new Token("twice", bucket, any, any)).toList());
          return queue.giveBack(bucket, leases);
        });
  }

  private interface Faulty {
    List<Lease> call(TokenQueue queue, BucketId bucket, List<Lease> leases);
  }

  /** Processes with prefetched tokens, with another method of their queue. */
  @SuppressWarnings("unchecked")
  private static Limiter.Maker prefetching(String method, Faulty fault) {
    return TollgateLimiter.inMemory(
        terms -> new FillPolicy(FillMode.PRODUCER, 5),
        0,
        TollgateLimiter.Keeping.TOKENS,
        queue ->
            (TokenQueue)
                Proxy.newProxyInstance(
                    TokenQueue.class.getClassLoader(),
                    new Class<?>[] {TokenQueue.class},
                    (proxy, called, arguments) ->
                        called.getName().equals(method)
                            ? fault.call(queue, (BucketId) arguments[0], (List<Lease>) arguments[1])
                            : called.invoke(queue, arguments)));
  }

  private static Limiter.Maker planted(int perMille, Function<TollgateLimiter, Limiter> fault) {
    Limiter.Maker maker =
        TollgateLimiter.inMemory(terms -> new FillPolicy(FillMode.PRODUCER, 5), perMille);
    return new Limiter.Maker() {
      @Override
      public Limiter make(Setting setting) {
        return fault.apply((TollgateLimiter) maker.make(setting));
      }

      @Override
      public Terms terms(Random random) {
        return maker.terms(random);
      }
    };
  }

  /** A correct limiter for faulty subclasses. Its token counts do not include the fault. */
  private static class FaultyLimiter implements Limiter {
    private final TollgateLimiter correct;

    FaultyLimiter(TollgateLimiter correct) {
      this.correct = correct;
    }

    @Override
    public void open(String tenant, Terms terms) {
      correct.open(tenant, terms);
    }

    @Override
    public Claim claim(String tenant) {
      return correct.claim(tenant);
    }

    @Override
    public Optional<Claim> claim(String tenant, long tokens) {
      return correct.claim(tenant, tokens);
    }

    @Override
    public Optional<List<Claim>> claimTogether(String tenant, int callers, long tokens) {
      return correct.claimTogether(tenant, callers, tokens);
    }

    @Override
    public boolean retune(String tenant, Terms terms) {
      return correct.retune(tenant, terms);
    }

    @Override
    public Optional<Instant> nextTimer() {
      return correct.nextTimer();
    }

    @Override
    public void passedTo(Instant now) {
      correct.passedTo(now);
    }

    @Override
    public Optional<TokenCounts> tokenCounts(String tenant) {
      return Optional.empty();
    }

    @Override
    public OptionalLong expiredByAge(String tenant) {
      return correct.expiredByAge(tenant);
    }

    @Override
    public FaultEffects faultEffects(String tenant) {
      return correct.faultEffects(tenant);
    }

    @Override
    public long cost(String tenant) {
      return correct.cost(tenant);
    }
  }
}
