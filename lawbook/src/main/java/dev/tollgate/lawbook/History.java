package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;

/**
 * A random sequence of steps, determined by its seed.
 *
 * @param seed the seed of the steps and of all other random choices
 * @param steps the steps, in order
 */
public record History(long seed, List<Step> steps) {
  private static final int LONGEST = 60;
  private static final List<Step.Use> USES = List.of(Step.Use.values());
  private static final List<Step.Manners> MANNERS = List.of(Step.Manners.values());
  private static final Duration LONGEST_WAIT = Duration.ofHours(3);

  /** Copies the steps. */
  public History {
    steps = List.copyOf(steps);
  }

  /** A history with the same seed and other steps. */
  History with(List<Step> others) {
    return new History(seed, others);
  }

  /** The random source for the first terms of a subject. */
  static Random terms(long seed) {
    return new Random(seed * 31 + 7);
  }

  static History ofLimiter(long seed, Limiter.Maker maker) {
    Random random = new Random(seed);
    Terms first = maker.terms(terms(seed));
    Duration token = first.rate().timeOf(1);
    Duration full = first.rate().timeOf(first.capacity());
    boolean retunes = random.nextInt(3) == 0;
    boolean busy = random.nextBoolean();
    return draw(
        seed,
        random,
        any -> {
          int what = any.nextInt(24);
          if (what < 7) {
            return wait(any, token, full);
          } else if (what < 13) {
            int max = busy ? 2 * Math.toIntExact(Math.min(200, first.capacity())) : 3;
            Step.Use use = USES.get(any.nextInt(USES.size()));
            boolean spends = busy && any.nextInt(4) > 0;
            return new Step.Claims(1 + any.nextInt(max), spends ? Step.Use.SPENT : use);
          } else if (what < 15) {
            return new Step.Spend(any.nextInt(8));
          } else if (what < 17) {
            return new Step.GiveBack(any.nextInt(8));
          } else if (what == 17 && retunes) {
            return new Step.Retune(maker.terms(any));
          } else if (what == 18) {
            return new Step.AwaitRetry();
          } else if (what == 20 && any.nextInt(3) == 0) {
            return new Step.IdleThenBurst(
                Duration.ofMinutes(1 + any.nextInt(60)),
                Math.toIntExact(Math.min(400, first.capacity() + 1 + any.nextInt(40))));
          } else if (what == 21 && first.capacity() > 1) {
            return new Step.ClaimOf(
                2 + any.nextLong(first.capacity() - 1), USES.get(any.nextInt(USES.size())));
          } else if (what == 22 && first.capacity() > 1) {
            return new Step.Together(2 + any.nextInt(3), 2 + any.nextLong(first.capacity() - 1));
          }
          return new Step.Claims(1 + any.nextInt(3), Step.Use.HELD);
        });
  }

  static History ofCounter(long seed) {
    return draw(
        seed,
        new Random(seed),
        any -> {
          int what = any.nextInt(20);
          if (what < 4) {
            return new Step.Wait(Duration.ofMillis(any.nextInt(40_000)));
          } else if (what < 12) {
            return new Step.Open(1 + any.nextInt(4));
          } else if (what < 18) {
            int[] reports = {0, 1, 1, 1, 2, 3};
            return new Step.Close(any.nextInt(12), reports[any.nextInt(reports.length)]);
          } else if (what == 18) {
            return new Step.CloseUnknown(any.nextInt(12));
          }
          return any.nextInt(4) == 0
              ? new Step.CloseAll()
              : new Step.Wait(Duration.ofSeconds(any.nextInt(600)));
        });
  }

  static History ofProcessor(long seed) {
    return draw(
        seed,
        new Random(seed),
        any -> {
          int what = any.nextInt(10);
          if (what < 4) {
            return new Step.Send(1 + any.nextInt(6));
          } else if (what < 7) {
            return new Step.SendAgain(any.nextInt(20));
          }
          int[] max = {1, 20, 20, 70, 330};
          return new Step.Wait(
              Duration.ofMillis(1_000L * any.nextInt(1 + max[any.nextInt(max.length)])));
        });
  }

  /**
   * Most histories begin shortly before a change of the clocks of the terms' zone, if it has any.
   */
  static History ofQuota(long seed, Quota.Maker maker) {
    Random random = new Random(seed);
    Quota.Terms terms = maker.terms(terms(seed));
    boolean retunes = random.nextInt(3) == 0;
    int max = Math.toIntExact(Math.min(200, 2 * terms.capacity()));
    History drawn =
        draw(
            seed,
            random,
            any -> {
              int what = any.nextInt(16);
              if (what < 2) {
                return new Step.Wait(Duration.ofMillis(any.nextInt(120_000)));
              } else if (what == 2) {
                return new Step.Wait(Duration.ofMinutes(any.nextInt(3_000)));
              } else if (what < 7) {
                return new Step.AwaitPeriod(Duration.ofMillis(any.nextInt(20_000) - 8_000));
              } else if (what < 11) {
                return new Step.Claims(1 + any.nextInt(max), USES.get(any.nextInt(USES.size())));
              } else if (what == 11) {
                return new Step.Claims(max, Step.Use.SPENT);
              } else if (what == 12) {
                return new Step.Spend(any.nextInt(8));
              } else if (what == 13) {
                return new Step.GiveBack(any.nextInt(8));
              } else if (what == 14 && retunes) {
                return new Step.RetuneQuota(1 + any.nextLong(2 * terms.capacity()));
              }
              return new Step.Claims(1 + any.nextInt(3), Step.Use.HELD);
            });
    ZoneOffsetTransition change = terms.zone().getRules().nextTransition(Setting.START);
    if (change != null && random.nextBoolean()) {
      change = terms.zone().getRules().nextTransition(change.getInstant());
    }
    if (change == null || random.nextInt(4) == 0) {
      return drawn;
    }
    List<Step> steps = new ArrayList<>(drawn.steps());
    Duration before = Duration.ofMinutes(random.nextLong(3 * 24 * 60L * terms.days()));
    steps.add(0, new Step.Wait(Duration.between(Setting.START, change.getInstant()).minus(before)));
    return drawn.with(steps);
  }

  static History ofLine(long seed, Line.Maker maker) {
    Random random = new Random(seed);
    Rate rate = maker.terms(terms(seed)).rate();
    int mix = 1 + random.nextInt(MANNERS.size());
    boolean retunes = random.nextInt(4) == 0;
    return draw(
        seed,
        random,
        any -> {
          int what = any.nextInt(10);
          if (what < 4) {
            return new Step.Wait(Duration.ofMillis(any.nextLong(rate.timeOf(4).toMillis() + 2)));
          } else if (what == 4 && retunes) {
            return new Step.RetuneLine(
                new Rate(rate.tokens() * (1 + any.nextInt(8)), rate.per().multipliedBy(4)));
          }
          return new Step.Arrive(
              1 + any.nextInt(12),
              MANNERS.get(any.nextInt(mix)),
              any.nextBoolean() ? 100 : rate.timeOf(3).toMillis());
        });
  }

  private static History draw(long seed, Random random, Function<Random, Step> next) {
    List<Step> steps = new ArrayList<>();
    int count = 1 + random.nextInt(LONGEST);
    for (int i = 0; i < count; i++) {
      steps.add(next.apply(random));
    }
    return new History(seed, steps);
  }

  /**
   * Waits a random time, at most one of: a few milliseconds, one token's interval, two minutes, 1.5
   * times the fill time.
   */
  private static Step wait(Random random, Duration token, Duration full) {
    Duration bound =
        switch (random.nextInt(5)) {
          case 0 -> Duration.ofMillis(20);
          case 1, 2 -> token;
          case 3 -> Duration.ofMinutes(2);
          default -> full.plus(full.dividedBy(2));
        };
    long max = Math.min(bound.toMillis(), LONGEST_WAIT.toMillis());
    return new Step.Wait(Duration.ofMillis(random.nextLong(max + 1)));
  }
}
