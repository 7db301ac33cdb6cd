package dev.tollgate.e2e.local;

import dev.tollgate.client.Claim;
import dev.tollgate.client.TokenBucket;
import dev.tollgate.client.TollgateClient;
import dev.tollgate.local.testing.ManualClock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * An application in a process of its own, with two clients: one keeps prefetched tokens, the other
 * does not. Both claim from one bucket when the test orders it.
 *
 * <p>The test sends its time with each order, and the process has that time until the next order.
 * Only the return of leased tokens runs on a timer of the system clock. It returns them if they are
 * also old by the test's clock, and never grants a claim.
 */
final class ClaimingProcess implements AutoCloseable {
  private static final int PREFETCH = 10;
  private static final String READY = "ready";

  private final Process process;
  private final BufferedReader answers;
  private final PrintStream orders;

  private ClaimingProcess(Process process) {
    this.process = process;
    this.answers =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    this.orders = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
  }

  /**
   * Runs the application: reads one order a line, and answers each by a line.
   *
   * <p>The arguments are the tenant, the action and the time of the test in milliseconds.
   */
  @SuppressWarnings("SystemOut") // the test reads these lines
  public static void main(String[] arguments) throws IOException {
    ManualClock clock = new ManualClock(millis(arguments[2]));
    BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (TollgateClient prefetching =
            TollgateClient.builder()
                .environment(System.getenv())
                .clock(clock)
                .prefetch(PREFETCH)
                .build();
        TollgateClient plain =
            TollgateClient.builder().environment(System.getenv()).clock(clock).build()) {
      TokenBucket prefetched = prefetching.bucket(arguments[0], arguments[1]);
      TokenBucket direct = plain.bucket(arguments[0], arguments[1]);
      System.out.println(READY);
      for (String line = orders.readLine(); line != null; line = orders.readLine()) {
        String[] order = line.split(" ", -1);
        clock.set(millis(order[0]));
        CompletableFuture<Integer> granted =
            CompletableFuture.supplyAsync(() -> claim(prefetched, Integer.parseInt(order[1])));
        int grantedDirectly = claim(direct, Integer.parseInt(order[2]));
        System.out.println(granted.join() + " " + grantedDirectly);
      }
    }
  }

  private static Instant millis(String text) {
    return Instant.ofEpochMilli(Long.parseLong(text));
  }

  /**
   * Claims one token after another until a claim is refused; returns the granted ones. A claim that
   * a busy machine answers too late is neither.
   */
  private static int claim(TokenBucket bucket, int most) {
    int granted = 0;
    for (int claims = 0; claims < most; claims++) {
      Claim claim = bucket.tryClaim();
      if (claim instanceof Claim.Denied) {
        return granted;
      }
      granted += claim instanceof Claim.Granted ? 1 : 0;
    }
    return granted;
  }

  /** Starts a process that claims from this bucket, with this environment. */
  static ClaimingProcess start(
      String tenant, String action, Map<String, String> environment, Instant now)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-BytecodeVerificationRemote",
                "-cp",
                System.getProperty("java.class.path"),
                ClaimingProcess.class.getName(),
                tenant,
                action,
                String.valueOf(now.toEpochMilli())));
    builder.environment().putAll(environment);
    Process process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    // A test that fails must not leave it running.
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    return new ClaimingProcess(process);
  }

  /** Waits until the process takes orders. */
  void awaitReady() {
    if (!answer().equals(READY)) {
      throw new AssertionError("the process did not start");
    }
  }

  /**
   * Orders claims of one token at this time, of both clients concurrently. Each client stops at its
   * first refusal.
   */
  void order(Instant now, int prefetched, int direct) {
    orders.println(now.toEpochMilli() + " " + prefetched + " " + direct);
  }

  /** Waits until the process has carried out an order. */
  Granted granted() {
    int[] counts = Arrays.stream(answer().split(" ", -1)).mapToInt(Integer::parseInt).toArray();
    return new Granted(counts[0], counts[1]);
  }

  private String answer() {
    try {
      String line = answers.readLine();
      if (line == null) {
        throw new AssertionError("the process ended");
      }
      return line;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Ends the process: it ends when it can read no more orders. */
  @Override
  public void close() {
    orders.close();
    try {
      if (!process.waitFor(30, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException interrupted) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  /**
   * The granted claims of an order.
   *
   * @param prefetched those of the client that keeps prefetched tokens
   * @param direct those of the other client
   */
  record Granted(int prefetched, int direct) {
    int sum() {
      return prefetched + direct;
    }
  }
}
