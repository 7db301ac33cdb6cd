package dev.tollgate.cli.prove;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.local.InProcessCloud;
import dev.tollgate.cli.local.LocalStacks;
import dev.tollgate.cli.prove.account.Account;
import dev.tollgate.cli.prove.account.Stacks;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.local.testing.ManualClock;
import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The attacks on a local cloud, with and without a planted failure. */
@Tag("nightly")
final class AttacksIT {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  @TempDir private Path directory;

  // DynamoDB Local deletes expired items by the system's time.
  private final ManualClock clock =
      new ManualClock(
          InstantSource.system()
              .instant()
              .plus(1, ChronoUnit.DAYS)
              .truncatedTo(ChronoUnit.MINUTES)
              .plusSeconds(5));
  private final List<InProcessCloud> clouds = new CopyOnWriteArrayList<>();

  private void pass(Duration time) throws InterruptedException {
    Instant end = clock.instant().plus(time);
    Instant minute = clock.instant().truncatedTo(ChronoUnit.MINUTES).plusSeconds(60);
    for (; !minute.isAfter(end); minute = minute.plusSeconds(60)) {
      clock.set(minute);
      settle();
    }
    clock.set(end);
    settle();
  }

  private void settle() throws InterruptedException {
    for (InProcessCloud cloud : clouds) {
      cloud.settle();
    }
  }

  /** Attacks a new deployment. */
  private List<Finding> attack(Stacks stacks) {
    Shell shell =
        new Shell(
            new ByteArrayInputStream(new byte[0]),
            new PrintWriter(Writer.nullWriter()),
            new PrintWriter(Writer.nullWriter()),
            directory,
            Optional.of(ROOT),
            Map.of(),
            Optional.empty(),
            () -> ChronoUnit.NANOS.between(Instant.EPOCH, clock.instant()),
            this::pass);
    Run run =
        Run.open(
            new Run.Settings("prove_", directory, directory, Optional.empty(), 1, 1, 1),
            shell,
            stacks,
            // The command's clock is not that of the cloud.
            InstantSource.system(),
            true);
    new Deploying().run(run);
    return new Attacks().run(run);
  }

  private LocalStacks stacks() {
    return new LocalStacks(
        settings -> {
          InProcessCloud cloud = InProcessCloud.start(settings, clock);
          clouds.add(cloud);
          return cloud;
        },
        ROOT,
        directory);
  }

  /** The same, except that a revocation is of all sessions of a thousand years. */
  private static <T> T planted(Class<T> type, T real) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                Object result = method.invoke(real, arguments);
                if (result instanceof Account account) {
                  return planted(Account.class, account);
                }
                return result instanceof Sender sender && "iam".equals(arguments[0])
                    ? (Sender)
                        (verb, path, body, headers) ->
                            sender.send(
                                verb,
                                path.replace("Time%22%3A%222", "Time%22%3A%223"),
                                body,
                                headers)
                    : result;
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
            }));
  }

  @Test
  void attacks_are_denied_and_a_revocation_is_no_outage() {
    try (LocalStacks stacks = stacks()) {
      assertThat(attack(stacks))
          .noneMatch(finding -> finding.result() == Finding.Result.FAILS)
          .filteredOn(finding -> finding.promise().contains("revo"))
          .as("revocation")
          .hasSize(3)
          .allMatch(finding -> finding.result() == Finding.Result.HOLDS);
    }
  }

  /** New sessions are revoked as well, as if functions kept those that are denied. */
  @Test
  void an_outage_after_a_revocation_is_reported_with_the_file_to_mend() {
    try (LocalStacks stacks = stacks()) {
      assertThat(attack(planted(Stacks.class, stacks)))
          .filteredOn(finding -> finding.result() == Finding.Result.FAILS)
          .extracting(Finding::promise, Finding::mend)
          .containsExactly(
              tuple(
                  "after a revocation, a new session of a tenant's role is allowed",
                  "aws/src/main/java/dev/tollgate/aws/credentials/DeniedSessions.java"),
              tuple(
                  "a revocation costs each function one request of a tenant, and no outage",
                  "aws/src/main/java/dev/tollgate/aws/credentials/DeniedSessions.java"));
    }
  }
}
