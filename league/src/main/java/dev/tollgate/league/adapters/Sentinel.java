package dev.tollgate.league.adapters;

import com.alibaba.csp.sentinel.log.RecordLog;
import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.Rate;
import dev.tollgate.lawbook.Terms;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Random;

/**
 * Sentinel's default flow control by requests per second: {@code DefaultController}, and the {@code
 * StatisticNode} that counts its passes, as Sentinel's slots call them.
 */
public final class Sentinel implements Bucket {
  private static final String PACKAGE = "com.alibaba.csp.sentinel.";
  private static final int GRADE_QPS = 1;
  private static final ClassLoader CLASSES =
      new ClockedClasses(PACKAGE + "node.", PACKAGE + "slots.");

  static {
    // Sentinel prints which log it has found, into the table if it could.
    PrintStream out = System.out;
    System.setOut(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));
    RecordLog.info("");
    System.setOut(out);
  }

  private final InstantSource clock;
  private final Object controller;
  private final Object node;

  private Sentinel(Terms terms, InstantSource clock) {
    this.clock = clock;
    SimulatedTime.use(clock);
    try {
      controller =
          load("slots.block.flow.controller.DefaultController")
              .getConstructor(double.class, int.class)
              .newInstance((double) terms.capacity(), GRADE_QPS);
      node = load("node.StatisticNode").getConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Promises a threshold of requests per second, counted in samples. Javadoc of {@code
   * StatisticNode}: "Sentinel use the statics of the valid buckets to decide whether this request
   * can be passed", and "the time-span is defined by sample count": two samples of 500 ms, by
   * {@code SampleCountProperty} and {@code IntervalProperty}. The threshold's passes may come at
   * the end of a sample and again 500 ms later: half a second's more than from a bucket (slack). A
   * pass counts for up to a second (lateness).
   */
  public static Limiter.Maker maker() {
    return Bucket.maker(Sentinel::terms, Sentinel::new);
  }

  private static Terms terms(Random random) {
    long limit = 1L + random.nextInt(20);
    Duration second = Duration.ofSeconds(1);
    return new Terms(new Rate(limit, second), limit, (limit + 1) / 2, second);
  }

  private static Class<?> load(String name) throws ClassNotFoundException {
    return CLASSES.loadClass(PACKAGE + name);
  }

  @Override
  public Optional<Claim> claim(long tokens) {
    SimulatedTime.use(clock);
    int count = Math.toIntExact(tokens);
    try {
      boolean passes =
          (boolean)
              controller
                  .getClass()
                  .getMethod("canPass", load("node.Node"), int.class)
                  .invoke(controller, node, count);
      if (passes) {
        node.getClass().getMethod("addPassRequest", int.class).invoke(node, count);
      }
      return Bucket.answer(passes);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
