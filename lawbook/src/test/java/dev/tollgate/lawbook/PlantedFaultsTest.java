package dev.tollgate.lawbook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks that each planted fault of a limiter breaks exactly the expected laws. */
final class PlantedFaultsTest {
  private static final int HISTORIES = 150;

  /** Makes limiters with faulty buckets. */
  private static Limiter.Maker buckets(BiFunction<Setting, Terms, ExactLimiter.Bucket> faulty) {
    return setting ->
        new ExactLimiter(setting) {
          @Override
          ExactLimiter.Bucket bucket(Terms terms) {
            return faulty.apply(setting, terms);
          }
        };
  }

  private static Limiter.Maker filled(Function<Setting, Limiter> limiter) {
    return new Limiter.Maker() {
      @Override
      public Limiter make(Setting setting) {
        return limiter.apply(setting);
      }

      @Override
      public Terms terms(Random random) {
        return FilledLimiter.terms(random);
      }
    };
  }

  /** Hides all optional methods, so that laws can be judged by answers alone. */
  private static Limiter.Maker withoutCounts(Limiter.Maker maker) {
    return setting -> {
      Limiter open = maker.make(setting);
      return new Limiter() {
        @Override
        public void open(String tenant, Terms terms) {
          open.open(tenant, terms);
        }

        @Override
        public Claim claim(String tenant) {
          return open.claim(tenant);
        }

        @Override
        public boolean retune(String tenant, Terms terms) {
          return open.retune(tenant, terms);
        }
      };
    };
  }

  /** Puts every other spent token back. */
  private static final Limiter.Maker ADMITS_TWICE_AS_MUCH =
      buckets(
          (setting, terms) ->
              new ExactLimiter.Bucket(setting, terms) {
                @Override
                Lease.Spending spend(ExactLimiter.Held lease) {
                  Lease.Spending spending = super.spend(lease);
                  if (spending == Lease.Spending.SPENT && spent % 2 == 0) {
                    held++;
                    minted++;
                  }
                  return spending;
                }
              });

  /** Promises a lateness of two seconds, and is up to three seconds late. */
  private static final Limiter.Maker THREE_SECONDS_LATE =
      new Limiter.Maker() {
        @Override
        public Limiter make(Setting setting) {
          Map<String, Instant> emptyUntil = new HashMap<>();
          return new ExactLimiter(setting) {
            @Override
            public Claim claim(String tenant) {
              if (setting.now().isBefore(emptyUntil.getOrDefault(tenant, Setting.START))) {
                return Claim.refused(Duration.ofSeconds(3));
              }
              Claim claim = super.claim(tenant);
              if (claim instanceof Claim.Refused refused) {
                emptyUntil.put(tenant, setting.now().plus(refused.retryAfter()).plusSeconds(3));
              }
              return claim;
            }
          };
        }

        @Override
        public Terms terms(Random random) {
          Terms exact = Terms.any(random);
          return new Terms(
              exact.rate(),
              exact.capacity(),
              0,
              Duration.ofSeconds(2),
              false,
              Duration.ofSeconds(2));
        }
      };

  private static final Limiter.Maker GRANTS_A_PART =
      buckets(
          (setting, terms) ->
              new ExactLimiter.Bucket(setting, terms) {
                @Override
                Claim claim(long tokens) {
                  update();
                  return super.claim(held > 0 ? Math.min(tokens, held) : tokens);
                }
              });

  private static final Limiter.Maker STARVES_CONCURRENT_CALLERS =
      setting ->
          new ExactLimiter(setting) {
            @Override
            public Optional<List<Claim>> claimTogether(String tenant, int callers, long tokens) {
              return Optional.of(
                  Stream.generate(() -> Claim.refused(Duration.ofMillis(1)))
                      .limit(callers)
                      .toList());
            }
          };

  private static final Limiter.Maker LOST_RETURN =
      buckets(
          (setting, terms) ->
              new ExactLimiter.Bucket(setting, terms) {
                @Override
                void giveBack(ExactLimiter.Held lease) {
                  update();
                  inFlight.remove(lease);
                }
              });

  private static final Limiter.Maker RETURNS_AT_LEASE_END_ONLY =
      buckets(
          (setting, terms) ->
              new ExactLimiter.Bucket(setting, terms) {
                @Override
                void giveBack(ExactLimiter.Held lease) {
                  update();
                }
              });

  private static final Limiter.Maker SPENDS_AFTER_LEASE_END =
      buckets(
          (setting, terms) ->
              new ExactLimiter.Bucket(setting, terms) {
                @Override
                Lease.Spending spend(ExactLimiter.Held lease) {
                  super.spend(lease);
                  return Lease.Spending.SPENT;
                }
              });

  private static final Limiter.Maker REFUSAL_COSTS =
      buckets(
          (setting, terms) ->
              new ExactLimiter.Bucket(setting, terms) {
                @Override
                Claim refused(long missing) {
                  fraction = BigInteger.ZERO;
                  return super.refused(missing);
                }
              });

  private static Limiter.Maker withRetryAfter(Function<Duration, Duration> wrong) {
    return buckets(
        (setting, terms) ->
            new ExactLimiter.Bucket(setting, terms) {
              @Override
              Duration untilNext(long missing) {
                return wrong.apply(super.untilNext(missing));
              }
            });
  }

  private static final Limiter.Maker RETUNE_FORGETS =
      buckets(
          (setting, terms) ->
              new ExactLimiter.Bucket(setting, terms) {
                @Override
                void retune(Terms next) {
                  super.retune(next);
                  expired += held;
                  held = 0;
                }
              });

  private static final Limiter.Maker RETUNE_FILLS =
      buckets(
          (setting, terms) ->
              new ExactLimiter.Bucket(setting, terms) {
                @Override
                void retune(Terms next) {
                  super.retune(next);
                  long more = Math.max(0, next.capacity() - held - inFlight());
                  held += more;
                  minted += more;
                }
              });

  private static final Limiter.Maker FILLS_TWICE =
      filled(
          setting ->
              new FilledLimiter(setting) {
                @Override
                void fill(FilledLimiter.Bucket bucket, Instant through) {
                  mint(bucket);
                }
              });

  private static final Limiter.Maker BUSY_FOR_ALL_TENANTS =
      setting ->
          new ExactLimiter(setting) {
            private final Map<Instant, Set<String>> claimants = new HashMap<>();

            @Override
            public Claim claim(String tenant) {
              Set<String> now =
                  claimants.computeIfAbsent(setting.clock().instant(), at -> new HashSet<>());
              now.add(tenant);
              return now.size() > 1 ? new Claim.Undecided("busy") : super.claim(tenant);
            }
          };

  private static final Limiter.Maker ONE_LOCK_FOR_ALL_TENANTS =
      setting ->
          new ExactLimiter(setting) {
            private long waiting;

            @Override
            public Claim claim(String tenant) {
              waiting++;
              return super.claim(tenant);
            }

            @Override
            public long cost(String tenant) {
              return waiting;
            }
          };

  /** Keeps tokens as a float that it updates at each claim. */
  private static final Limiter.Maker USES_FLOATS =
      setting ->
          new Limiter() {
            private final Map<String, float[]> tokens = new HashMap<>();
            private final Map<String, Instant> seen = new HashMap<>();
            private final Map<String, Terms> all = new HashMap<>();

            @Override
            public void open(String tenant, Terms terms) {
              all.put(tenant, terms);
              tokens.put(tenant, new float[] {terms.capacity()});
              seen.put(tenant, setting.clock().instant());
            }

            @Override
            public Claim claim(String tenant) {
              Terms terms = Optional.ofNullable(all.get(tenant)).orElseThrow();
              float[] now = Optional.ofNullable(tokens.get(tenant)).orElseThrow();
              Instant last = seen.getOrDefault(tenant, Setting.START);
              float perMilli = (float) terms.rate().tokens() / terms.rate().per().toMillis();
              float came = Duration.between(last, setting.clock().instant()).toMillis() * perMilli;
              seen.put(tenant, setting.clock().instant());
              now[0] = Math.min((float) terms.capacity(), now[0] + came);
              if (now[0] >= 1) {
                now[0]--;
                return Claim.admitted();
              }
              return Claim.refused(Duration.ofMillis((long) Math.ceil((1 - now[0]) / perMilli)));
            }

            @Override
            public boolean retune(String tenant, Terms terms) {
              return false;
            }
          };

  static List<Arguments> faults() {
    return List.of(
        Arguments.of("the reference", (Limiter.Maker) ExactLimiter::new, List.of()),
        Arguments.of("the reference without counts", withoutCounts(ExactLimiter::new), List.of()),
        Arguments.of("the reference that is filled", filled(FilledLimiter::new), List.of()),
        Arguments.of(
            "adds tokens twice when a fill is delivered twice",
            FILLS_TWICE,
            List.of(LimiterLaws.NEVER_MORE)),
        Arguments.of(
            "admits twice as much",
            ADMITS_TWICE_AS_MUCH,
            List.of(LimiterLaws.NEVER_MORE, LimiterLaws.RETUNE_CONSERVES)),
        Arguments.of(
            "is three seconds late",
            THREE_SECONDS_LATE,
            List.of(LimiterLaws.NEVER_LATE, LimiterLaws.REFUSAL_IS_FREE, LimiterLaws.RETRY_AFTER)),
        Arguments.of(
            "grants a part of several tokens", GRANTS_A_PART, List.of(LimiterLaws.ALL_OR_NONE)),
        Arguments.of(
            "refuses all concurrent callers",
            STARVES_CONCURRENT_CALLERS,
            List.of(LimiterLaws.ALL_OR_NONE)),
        Arguments.of(
            "loses tokens that are given back",
            LOST_RETURN,
            List.of(
                LimiterLaws.NEVER_LATE,
                LimiterLaws.ALL_OR_NONE,
                LimiterLaws.CONSERVATION,
                LimiterLaws.REFUSAL_IS_FREE)),
        Arguments.of(
            "loses tokens that are given back, without counts",
            withoutCounts(LOST_RETURN),
            List.of(LimiterLaws.NEVER_LATE, LimiterLaws.REFUSAL_IS_FREE)),
        Arguments.of(
            "returns tokens only when the lease ends",
            RETURNS_AT_LEASE_END_ONLY,
            List.of(
                LimiterLaws.NEVER_LATE,
                LimiterLaws.THROUGHPUT,
                LimiterLaws.ALL_OR_NONE,
                LimiterLaws.CONSERVATION,
                LimiterLaws.REFUSAL_IS_FREE,
                LimiterLaws.RETRY_AFTER,
                LimiterLaws.RETUNE_CONSERVES)),
        Arguments.of(
            "spends after the lease has ended",
            SPENDS_AFTER_LEASE_END,
            List.of(LimiterLaws.NEVER_MORE, LimiterLaws.CONSERVATION)),
        Arguments.of(
            "a refusal discards the accrued fraction of the next token",
            REFUSAL_COSTS,
            List.of(
                LimiterLaws.NEVER_LATE,
                LimiterLaws.THROUGHPUT,
                LimiterLaws.ALL_OR_NONE,
                LimiterLaws.REFUSAL_IS_FREE)),
        Arguments.of(
            "Retry-After is 1 % too short",
            withRetryAfter(right -> right.multipliedBy(99).dividedBy(100)),
            List.of(LimiterLaws.RETRY_AFTER)),
        Arguments.of(
            "Retry-After is 10,000 days too long",
            withRetryAfter(right -> Duration.ofDays(10_000)),
            List.of(LimiterLaws.RETRY_AFTER)),
        Arguments.of(
            "a retune discards the tokens",
            RETUNE_FORGETS,
            List.of(LimiterLaws.NEVER_LATE, LimiterLaws.ALL_OR_NONE, LimiterLaws.RETUNE_CONSERVES)),
        Arguments.of(
            "a retune discards the tokens, without counts",
            withoutCounts(RETUNE_FORGETS),
            List.of(LimiterLaws.NEVER_LATE, LimiterLaws.RETUNE_CONSERVES)),
        Arguments.of(
            "a retune fills the bucket",
            RETUNE_FILLS,
            List.of(LimiterLaws.NEVER_MORE, LimiterLaws.RETUNE_CONSERVES)),
        Arguments.of(
            "a retune fills the bucket, without counts",
            withoutCounts(RETUNE_FILLS),
            List.of(LimiterLaws.NEVER_MORE, LimiterLaws.RETUNE_CONSERVES)),
        Arguments.of(
            "computes with floats",
            USES_FLOATS,
            List.of(LimiterLaws.NEVER_LATE, LimiterLaws.REFUSAL_IS_FREE, LimiterLaws.RETRY_AFTER)),
        Arguments.of(
            "is busy for all tenants", BUSY_FOR_ALL_TENANTS, List.of(LimiterLaws.NEIGHBOURS)),
        Arguments.of(
            "makes all tenants wait for one lock",
            ONE_LOCK_FOR_ALL_TENANTS,
            List.of(LimiterLaws.NEIGHBOURS)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("faults")
  void limiter_with_a_planted_fault_breaks_exactly_the_expected_laws(
      String name, Limiter.Maker maker, List<Law<Limiter.Maker>> laws) {
    assertThat(LawBook.ofLimiter(maker).broken(HISTORIES)).as(name).containsExactlyElementsOf(laws);
  }

  @Test
  void reference_is_checked_by_every_law() {
    LawBook.Report report = LawBook.ofLimiter(ExactLimiter::new).hold(HISTORIES);
    assertThat(report.judged().values()).allMatch(judged -> judged > HISTORIES / 6);
  }

  @Test
  void violation_names_law_seed_step_and_shortest_history_and_can_be_replayed() {
    LawBook<Limiter.Maker> book = LawBook.ofLimiter(LOST_RETURN);

    assertThatThrownBy(() -> book.hold(HISTORIES))
        .isInstanceOfSatisfying(
            LawViolation.class,
            violation -> {
              assertThat(violation.law()).isSameAs(LimiterLaws.CONSERVATION);
              assertThat(violation.getMessage())
                  .contains(
                      "the law is broken: minted = spent + expired + held + in flight",
                      "replay: -Dlawbook.seed=" + violation.seed(),
                      "expected: ",
                      "happened: ");
              assertThat(violation.getMessage().lines()).allMatch(line -> line.length() <= 100);
              assertThat(violation.toString().lines().count()).isLessThan(14);
              assertThatThrownBy(() -> book.replay(violation.seed()))
                  .hasMessage(violation.getMessage());
            });
  }
}
