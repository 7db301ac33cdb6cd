package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ParallelTasks;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.invocation.Steps;
import dev.tollgate.controlplane.tenants.TenantLifecycle;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.tenant.Tenant;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds and repairs what is not as it should be, because somebody changed or deleted it by hand. It
 * walks, part by part, through all tenants, then through all queues and schedules that are there.
 *
 * <p>What is looked at is at work meanwhile: buckets are woken, handed over, made and removed, the
 * row first and the rest after it. So what one look finds is looked at once more a moment later,
 * and only what both find counts.
 */
public final class Doctor {
  /** The time between two looks: in that, whoever has changed a row has the rest follow. */
  private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(2);

  private final Ports ports;
  private final TenantLifecycle lifecycle;
  private final ParallelTasks crew;
  private final Pause pause;
  private final InstantSource clock;

  public Doctor(
      Ports ports,
      TenantLifecycle lifecycle,
      ParallelTasks crew,
      Pause pause,
      InstantSource clock) {
    this.ports = ports;
    this.lifecycle = lifecycle;
    this.crew = crew;
    this.pause = pause;
    this.clock = clock;
  }

  /** What is walked through, in this order. */
  public enum Stage {
    TENANTS,
    QUEUES,
    SCHEDULES,
    SHARDS;

    /** What documents call it. */
    public String key() {
      return name().toLowerCase(Locale.ROOT);
    }

    private Optional<Stage> next() {
      return switch (this) {
        case TENANTS -> Optional.of(QUEUES);
        case QUEUES -> Optional.of(SCHEDULES);
        case SCHEDULES -> Optional.of(SHARDS);
        case SHARDS -> Optional.empty();
      };
    }
  }

  /**
   * How far a walk has come.
   *
   * @param stage what is walked through next
   * @param cursor the end of the part before, if it was of the same
   */
  public record Place(Stage stage, Optional<String> cursor) {
    public static final Place START = new Place(Stage.TENANTS, Optional.empty());

    /**
     * Reads what {@link #toString} wrote.
     *
     * @throws InvalidValue if it is anything else
     */
    public static Place of(String text) {
      int colon = text.indexOf(':');
      for (Stage stage : Stage.values()) {
        if (colon > 0 && stage.key().equals(text.substring(0, colon))) {
          return new Place(
              stage, Optional.of(text.substring(colon + 1)).filter(cursor -> !cursor.isEmpty()));
        }
      }
      throw new InvalidValue("cursor", text, "next of the part before");
    }

    @Override
    public String toString() {
      return stage.key() + ":" + cursor.orElse("");
    }
  }

  /**
   * A finding, and what became of it.
   *
   * @param outcome empty if it was not to be repaired
   */
  public record Diagnosis(Finding finding, Optional<ReconcileOutcome> outcome) {}

  /**
   * A part of a walk.
   *
   * @param stage what was looked at
   * @param checked how many of them
   * @param next where the walk goes on; empty at its end
   */
  public record Round(Stage stage, List<Diagnosis> diagnoses, long checked, Optional<Place> next) {}

  /**
   * Looks at a part. Only reads.
   *
   * @param most how many to look at, 1 to 100
   * @throws Unavailable if something could not be asked, or there is no time for so many
   */
  public Round examine(Place place, int most, Invocation invocation) {
    Part part = part(place, most);
    List<Diagnosis> diagnoses =
        confirmed(part, invocation).stream()
            .flatMap(Suspect::stream)
            .map(finding -> new Diagnosis(finding, Optional.empty()))
            .toList();
    return part.round(diagnoses);
  }

  /**
   * Looks at a part, and repairs what is found. What there is no time for, or what fails, is told
   * of as not repaired.
   *
   * @param most how many to look at, 1 to 100
   * @throws Unavailable as {@link #examine}
   */
  public Round repair(Place place, int most, Invocation invocation) {
    Part part = part(place, most);
    List<Diagnosis> diagnoses =
        crew
            .map(
                confirmed(part, invocation),
                patient -> treated(patient, invocation),
                invocation.unlimited())
            .stream()
            .flatMap(List::stream)
            .toList();
    return part.round(diagnoses);
  }

  /** What was found at one of those looked at. */
  private record Suspect(Check checkup, List<Finding> findings) {
    private Stream<Finding> stream() {
      return findings.stream();
    }
  }

  private List<Suspect> confirmed(Part part, Invocation invocation) {
    List<Suspect> suspected = look(part.checkups(), invocation);
    if (suspected.isEmpty()) {
      return List.of();
    }
    pause.of(BETWEEN_LOOKS);
    List<Suspect> confirmed = new ArrayList<>();
    List<Suspect> again = look(suspected.stream().map(Suspect::checkup).toList(), invocation);
    for (Suspect second : again) {
      List<Finding> both = new ArrayList<>(second.findings());
      suspected.stream()
          .filter(first -> first.checkup() == second.checkup())
          .forEach(first -> both.retainAll(first.findings()));
      if (!both.isEmpty()) {
        confirmed.add(new Suspect(second.checkup(), both));
      }
    }
    return confirmed;
  }

  private List<Suspect> look(List<Check> checkups, Invocation invocation) {
    return crew
        .map(checkups, checkup -> new Suspect(checkup, checkup.findings()), invocation)
        .stream()
        .filter(looked -> !looked.findings().isEmpty())
        .toList();
  }

  private static List<Diagnosis> treated(Suspect suspect, Invocation invocation) {
    List<ReconcileOutcome> outcomes = outcomes(suspect, invocation);
    List<Diagnosis> diagnoses = new ArrayList<>();
    for (int i = 0; i < suspect.findings().size(); i++) {
      diagnoses.add(new Diagnosis(suspect.findings().get(i), Optional.of(outcomes.get(i))));
    }
    return diagnoses;
  }

  private static List<ReconcileOutcome> outcomes(Suspect suspect, Invocation invocation) {
    Steps steps = new Steps(invocation);
    return steps
        .attempt("repair", () -> suspect.checkup().repair(suspect.findings(), invocation))
        .orElseGet(() -> suspect.findings().stream().map(finding -> steps.outcome()).toList());
  }

  /** What is to be looked at together. */
  private record Part(Stage stage, List<Check> checkups, long checked, Optional<Place> next) {
    private Round round(List<Diagnosis> diagnoses) {
      return new Round(stage, diagnoses, checked, next);
    }
  }

  private Part part(Place place, int most) {
    Optional<String> cursor = place.cursor();
    return switch (place.stage()) {
      case TENANTS -> {
        Page<Tenant> page = ports.tenants().list(cursor, most);
        yield part(
            Stage.TENANTS,
            Stream.concat(
                    page.items().stream().map(Tenant::id),
                    page.unreadable().stream().map(newer -> new TenantId(newer.name())))
                .<Check>map(id -> new TenantCheck(ports, lifecycle, clock, id))
                .toList(),
            page.next());
      }
      case QUEUES -> {
        Page<BucketId> page = ports.queues().list(cursor, most);
        yield part(
            Stage.QUEUES,
            page.items().stream()
                .<Check>map(id -> OrphanCheck.ofQueue(ports, lifecycle, id))
                .toList(),
            page.next());
      }
      case SCHEDULES -> {
        Page<BucketId> page = ports.schedules().list(cursor, most);
        yield part(
            Stage.SCHEDULES,
            page.items().stream()
                .<Check>map(id -> OrphanCheck.ofSchedule(ports, lifecycle, id))
                .toList(),
            page.next());
      }
      case SHARDS ->
          new Part(Stage.SHARDS, List.of(new ShardSchedulesCheck(ports)), Shard.COUNT, Optional.empty());
    };
  }

  private static Part part(Stage stage, List<Check> checkups, Optional<String> cursor) {
    Optional<Place> next =
        cursor
            .map(end -> new Place(stage, Optional.of(end)))
            .or(() -> stage.next().map(following -> new Place(following, Optional.empty())));
    return new Part(stage, checkups, checkups.size(), next);
  }
}
