package dev.tollgate.cli.verify;

import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.verify.Result.Evidence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** One run of checks against a deployment, with tenants and tiers of its own. */
public final class Verification {
  private static final String AS_IN_THE_CONTRACT = "documents as in the API's contract";

  private static final Duration AFTER_INTERRUPTION = Duration.ofSeconds(30);

  private final Deployment deployment;
  private final Shell shell;
  private final Bounds bounds;
  private final Inventory inventory;

  /**
   * @param prefix begins the names of all tenants and tiers that the run creates; no other tenant
   *     may have it
   */
  public Verification(Deployment deployment, Shell shell, Bounds bounds, String prefix) {
    this.deployment = deployment;
    this.shell = shell;
    this.bounds = bounds;
    this.inventory = new Inventory(deployment, shell, prefix);
  }

  /** All checks, in the order of the report. */
  public static List<Check> allChecks() {
    return Stream.of(
            TenantChecks.all(),
            ChangeChecks.all(),
            SessionChecks.all(),
            AdmissionChecks.all(),
            MessageChecks.all())
        .flatMap(List::stream)
        .toList();
  }

  /** How long a run usually takes. */
  public static Duration usual(List<Check> checks, int parallel) {
    Duration sum = checks.stream().map(Check::usual).reduce(Duration.ZERO, Duration::plus);
    Duration longest = checks.stream().map(Check::usual).reduce(Duration.ZERO, Verification::max);
    return max(longest, sum.dividedBy(parallel));
  }

  private static Duration max(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  /**
   * Runs checks, and removes what they created.
   *
   * @param parallel how many checks run at once
   * @param finished receives each result as soon as it is known, from several threads
   * @throws Failure if the deployment refuses to create the tiers
   */
  public Report run(List<Check> checks, int parallel, Consumer<Result> finished) {
    long start = shell.nanoTime().getAsLong();
    ExecutorService threads = Executors.newFixedThreadPool(parallel);
    try {
      inventory.createTiers();
      List<Future<Result>> running = new ArrayList<>();
      for (Check check : longestFirst(checks)) {
        running.add(
            threads.submit(
                () -> {
                  Result result = run(check);
                  finished.accept(result);
                  return result;
                }));
      }
      List<Result> results = new ArrayList<>();
      for (Future<Result> one : running) {
        results.add(one.get());
      }
      results.sort(
          (one, other) ->
              Integer.compare(checks.indexOf(one.check()), checks.indexOf(other.check())));
      List<String> left = inventory.remove(bounds.removal());
      return new Report(
          inventory.prefix(),
          results,
          left,
          List.copyOf(inventory.differences()),
          Duration.ofNanos(shell.nanoTime().getAsLong() - start));
    } catch (InterruptedException e) {
      throw Failure.of("interrupted", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("a check ended without a result", e.getCause());
    } finally {
      threads.shutdownNow();
      remove(bounds.removal());
    }
  }

  /** So that no long check runs alone at the end. */
  private static List<Check> longestFirst(List<Check> checks) {
    return checks.stream().sorted((one, other) -> other.usual().compareTo(one.usual())).toList();
  }

  /**
   * Removes the tenants and tiers of a run that is interrupted. Waits for at most half a minute,
   * and for one request, because the process was told to end.
   *
   * @return the names of those that could not be removed
   */
  public List<String> removeAll() {
    return remove(AFTER_INTERRUPTION);
  }

  private List<String> remove(Duration limit) {
    return inventory.size() == 0 ? List.of() : inventory.remove(limit);
  }

  /** How many tenants and tiers are still to be removed. */
  public int leftToRemove() {
    return inventory.size();
  }

  /** Runs a check, which also fails if an answer is not as in the API's contract. */
  private Result run(Check check) {
    Trial trial = new Trial(deployment, inventory, shell, bounds, check.name());
    Result result = run(check, trial);
    SortedSet<String> differences = trial.differences();
    if (differences.isEmpty()) {
      return result;
    }
    String seen = String.join("; ", differences);
    return result instanceof Result.Failed failed
        ? new Result.Failed(
            check, failed.evidence(), failed.expected(), failed.seen() + "; also " + seen)
        : new Result.Failed(check, result.evidence(), AS_IN_THE_CONTRACT, seen);
  }

  private Result run(Check check, Trial trial) {
    long start = shell.nanoTime().getAsLong();
    try (trial) {
      check.procedure().run(trial);
      return new Result.Passed(check, evidence(trial, start));
    } catch (Broken broken) {
      return new Result.Failed(check, evidence(trial, start), broken.expected(), broken.seen());
    } catch (Trial.Inapplicable reason) {
      return new Result.Inapplicable(
          check, evidence(trial, start), String.valueOf(reason.getMessage()));
    } catch (Trial.Undecidable reason) {
      return new Result.Skipped(check, evidence(trial, start), String.valueOf(reason.getMessage()));
    } catch (Failure failure) {
      return new Result.Failed(
          check, evidence(trial, start), "a response to each request", failure.reason());
    } catch (RuntimeException unforeseen) {
      return new Result.Failed(
          check, evidence(trial, start), AS_IN_THE_CONTRACT, unforeseen.toString());
    }
  }

  private Evidence evidence(Trial trial, long start) {
    return trial.evidence(Duration.ofNanos(shell.nanoTime().getAsLong() - start));
  }
}
