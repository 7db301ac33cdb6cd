package dev.tollgate.cli.apply;

import dev.tollgate.cli.apply.ChangeRequests.Applied;
import dev.tollgate.cli.apply.ChangeRequests.Deferred;
import dev.tollgate.cli.apply.ChangeRequests.Rejected;
import dev.tollgate.cli.apply.ChangeRequests.Result;
import dev.tollgate.cli.apply.Difference.Resource;
import dev.tollgate.cli.apply.Difference.Verb;
import dev.tollgate.cli.apply.Outcome.Failed;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.pacing.Throughput;
import dev.tollgate.cli.terminal.Progress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * Applies the differences of a comparison, several at a time, in an order that the control plane
 * accepts: tiers are created and changed first, then tenants; tenants are removed before tiers,
 * because a tier that a tenant uses cannot be removed.
 *
 * <p>A difference that cannot be applied does not stop the others, unless the control plane denies
 * access or does not respond.
 */
public final class Execution {
  private final Throughput throughput;
  private final Progress progress;
  private final Differences differences;
  private final ChangeRequests requests;

  private final List<Failed> failures = Collections.synchronizedList(new ArrayList<>());
  private final List<String> notes = Collections.synchronizedList(new ArrayList<>());
  private final Map<Verb, Long> applied = Collections.synchronizedMap(new EnumMap<>(Verb.class));
  private final AtomicBoolean unreachable = new AtomicBoolean();

  public Execution(
      Sender api, Throughput throughput, Progress progress, Comparison.Result comparison) {
    this.throughput = throughput;
    this.progress = progress;
    this.differences = comparison.differences();
    this.requests = new ChangeRequests(api, comparison);
  }

  /** Applies all differences. */
  public Outcome run() {
    progress.start("Applied", differences.all().size(), "changes");
    run(differences.of(Verb.CREATE, Resource.TIER), requests::putTier);
    run(differences.of(Verb.CHANGE, Resource.TIER), requests::putTier);
    run(differences.of(Verb.CREATE, Resource.TENANT), requests::onboard);
    run(differences.of(Verb.CHANGE, Resource.TENANT), requests::changeTenant);
    run(differences.of(Verb.REMOVE, Resource.TENANT), requests::offboard);
    run(differences.of(Verb.REMOVE, Resource.TIER), requests::removeTier);
    long beingRemoved = requests.tenantsBeingRemoved();
    if (beingRemoved > 0) {
      notes.add(
          Comparison.counted(beingRemoved, "tenant")
              + (beingRemoved == 1 ? " is" : " are")
              + " still being removed. The control plane finishes this by itself.");
    }
    return new Outcome(differences, applied, notes, failures);
  }

  private boolean isStopped() {
    return unreachable.get() || requests.isAccessDenied();
  }

  private void run(List<Difference> some, Function<Difference, Result> request) {
    List<Difference> notStarted =
        isStopped()
            ? some
            : throughput.forEach(
                some,
                difference -> {
                  try {
                    record(difference, request.apply(difference));
                  } catch (Failure noResponse) {
                    unreachable.set(true);
                    failures.add(new Failed(difference, noResponse.reason()));
                    progress.step(false);
                  }
                  return !isStopped();
                });
    if (!notStarted.isEmpty()) {
      notes.add(
          Comparison.counted(notStarted.size(), "change")
              + " not started: "
              + notStarted.get(0).what()
              + (notStarted.size() > 1 ? " and others" : "")
              + ". Run the command again.");
    }
  }

  private void record(Difference difference, Result result) {
    if (result instanceof Rejected rejected) {
      failures.add(new Failed(difference, rejected.reason()));
    } else if (result instanceof Deferred deferred) {
      notes.add(deferred.note());
    } else if (result instanceof Applied done) {
      applied.merge(difference.verb(), 1L, Long::sum);
      done.note().ifPresent(notes::add);
    }
    progress.step(!(result instanceof Rejected));
  }
}
