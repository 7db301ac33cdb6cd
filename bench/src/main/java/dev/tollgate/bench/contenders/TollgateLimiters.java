package dev.tollgate.bench.contenders;

import dev.tollgate.client.Claim;
import dev.tollgate.client.TokenBucket;
import dev.tollgate.client.TollgateClient;
import dev.tollgate.client.TollgateClientBuilder;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** Tollgate's client, on tenants that {@link TenantBuckets} onboarded. */
final class TollgateLimiters implements Contender {
  private final String name;
  private final int tokens;
  private final TenantBuckets buckets;
  private final TollgateClient client;

  /**
   * @param tokens the tokens of a claim
   * @param options sets what differs from the client's defaults
   */
  TollgateLimiters(
      String name,
      int tokens,
      PeerTable environment,
      TenantBuckets buckets,
      UnaryOperator<TollgateClientBuilder> options) {
    this.name = name;
    this.tokens = tokens;
    this.buckets = buckets;
    this.client =
        options.apply(TollgateClient.builder().environment(environment.environment())).build();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int tokens() {
    return tokens;
  }

  /**
   * A minute's tokens: a fill does not know when a bucket that was full at the fill before was
   * drained.
   */
  @Override
  public long slack(Purpose purpose) {
    return Math.round(purpose.terms().perMinute());
  }

  @Override
  public List<Limiter> open(Purpose purpose, int keys) {
    return IntStream.range(0, keys)
        .mapToObj(key -> buckets.of(name, purpose, keys, key))
        .map(bucket -> limiter(client.bucket(bucket.tenantId(), bucket.action())))
        .toList();
  }

  private Limiter limiter(TokenBucket bucket) {
    return () -> {
      Claim claim = tokens == 1 ? bucket.tryClaim() : bucket.tryClaim(tokens);
      if (claim instanceof Claim.Undecided undecided) {
        throw new IllegalStateException(undecided.cause());
      }
      return claim instanceof Claim.Granted;
    };
  }

  @Override
  public void close() {
    client.close();
  }
}
