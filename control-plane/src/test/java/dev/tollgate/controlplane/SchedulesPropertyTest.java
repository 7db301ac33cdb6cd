package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.controlplane.ControlPlaneFixture.Answer;
import dev.tollgate.controlplane.tiers.TierRollOut;
import dev.tollgate.core.Action;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitSchedule;
import dev.tollgate.core.tenant.LimitSchedules;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.Faults.Fault;
import dev.tollgate.http.testing.RecordingContext;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random histories of scheduled limits, with schedules that fire late, twice or not at all, with
 * cancellations, tier changes and crashes: after the sweep of a minute, the limits of each tenant
 * are those of a model of its windows.
 */
class SchedulesPropertyTest {
  private static final int HISTORIES = 40 * Integer.getInteger("tests.times", 1);
  private static final int MINUTES = 25;
  private static final List<String> TENANTS = List.of("acme", "beta", "gamma");
  private static final List<String> TIERS = List.of("own", "other");
  private static final List<Fault> FAULTS =
      List.of(Faults.KILLED, Faults.UNREACHABLE, Faults.ANSWER_LOST);

  /** A window of the model, which knows nothing of rows. */
  private record Window(Instant opens, Instant closes, long factor) {
    private boolean contains(Instant now) {
      return !now.isBefore(opens) && now.isBefore(closes);
    }
  }

  /** One history. */
  private static final class History {
    private final Random random;
    private final ControlPlaneFixture at = new ControlPlaneFixture();
    private final Map<String, Map<String, Window>> model = new HashMap<>();
    private final List<Subject> delayed = new ArrayList<>();

    private History(long seed) {
      random = new Random(seed);
      at.context = new RecordingContext(Duration.ofSeconds(50));
      at.duringPauses =
          duration -> {
            at.clock.advance(duration);
            Optional.ofNullable(at.chunks.poll()).ifPresent(at::work);
          };
      TIERS.forEach(tier -> at.putTier(tier, tier(20)));
      TENANTS.forEach(tenant -> at.onboard(tenant, "own"));
    }

    private static String tier(long perMinute) {
      return """
          {"isolation":"POOL","limits":{"tenantPerMinute":%d,"sessionPerMinute":5,
           "connectionsPerSession":2,"tenantConnections":10,"sessionTTL":200,
           "sessionLifetime":600,"messagesPerMinute":60}}"""
          .formatted(perMinute);
    }

    private <T> T oneOf(List<T> all) {
      return all.get(random.nextInt(all.size()));
    }

    /** Runs a step, in which a call of a port may fail; returns whether it was left undisturbed. */
    private boolean disturbed(Runnable step) {
      boolean fails = random.nextInt(3) == 0;
      if (fails) {
        at.faults.plan(1 + random.nextInt(20), oneOf(FAULTS));
      }
      try {
        step.run();
      } catch (Faults.Killed | RuntimeException crashed) {
        assertThat(fails).as("%s", crashed).isTrue();
      } finally {
        at.faults.none();
      }
      return !fails;
    }

    private void minute() {
      toNextMinute();
      List<Subject> due = new ArrayList<>(delayed);
      delayed.clear();
      for (Subject owner : at.windows.due(at.clock.instant())) {
        switch (random.nextInt(4)) {
          case 0 -> due.add(owner);
          case 1 -> due.addAll(List.of(owner, owner));
          case 2 -> delayed.add(owner);
          default -> {}
        }
      }
      due.forEach(owner -> disturbed(() -> at.fire(owner)));
      disturbed(this::change);
      disturbed(at::sweep);
      // The minute after a sweep that failed.
      int sweeps = 0;
      do {
        assertThat(sweeps++).as("sweeps until all tiers are rolled out").isLessThan(4);
        toNextMinute();
        at.sweep();
      } while (!at.tiers.list().items().stream().allMatch(TierRollOut::isRolledOut)
          || at.clock.instant().getEpochSecond() % 60 >= 50);
    }

    /** Moves the clock to the first second of the next minute. */
    private void toNextMinute() {
      Instant next =
          at.clock.instant().truncatedTo(ChronoUnit.MINUTES).plus(Duration.ofSeconds(61));
      at.clock.advance(Duration.between(at.clock.instant(), next));
    }

    private void change() {
      switch (random.nextInt(8)) {
        case 0, 1, 2 -> add();
        case 3 -> cancel();
        case 4 -> at.putTier(oneOf(TIERS), tier(10 + random.nextInt(20)));
        case 5 -> at.patch(oneOf(TENANTS), "{\"tier\":\"" + oneOf(TIERS) + "\"}");
        case 6 ->
            at.patch(
                oneOf(TENANTS),
                random.nextBoolean()
                    ? "{\"overrides\":{}}"
                    : "{\"overrides\":{\"tenantPerMinute\":" + (40 + random.nextInt(9)) + "}}");
        default -> {}
      }
    }

    private String owner() {
      return random.nextBoolean() ? "tiers/" + oneOf(TIERS) : "tenants/" + oneOf(TENANTS);
    }

    private void add() {
      String owner = owner();
      Instant opens =
          at.clock
              .instant()
              .truncatedTo(ChronoUnit.MINUTES)
              .plus(Duration.ofMinutes(random.nextInt(8) - 1));
      Instant closes = opens.plus(Duration.ofMinutes(1 + random.nextInt(9)));
      long factor = 2 + random.nextInt(3);
      String body =
          "{\"factor\":%d,\"from\":\"%s\",\"to\":\"%s\",\"zone\":\"UTC\"}"
              .formatted(factor, local(opens), local(closes));
      Map<String, Window> windows = model.computeIfAbsent(owner, unused -> new HashMap<>());
      String id =
          LimitSchedule.of(BigDecimal.valueOf(factor), local(opens), local(closes), "UTC").id();
      try {
        Answer answer = at.schedules("POST", owner, "", body, false);
        if (answer.status() == 201) {
          windows.put(id, new Window(opens, closes, factor));
          return;
        }
      } finally {
        resolve(owner, id);
      }
    }

    private static String local(Instant instant) {
      return LocalDateTime.ofInstant(instant, ZoneOffset.UTC).toString();
    }

    private void cancel() {
      String owner = owner();
      List<String> ids =
          model.getOrDefault(owner, Map.of()).entrySet().stream()
              .filter(window -> at.clock.instant().isBefore(window.getValue().closes()))
              .map(Map.Entry::getKey)
              .sorted()
              .toList();
      if (ids.isEmpty()) {
        return;
      }
      String id = oneOf(ids);
      try {
        if (at.schedules("DELETE", owner, id, "", false).status() == 204) {
          model.get(owner).remove(id);
          return;
        }
      } finally {
        resolve(owner, id);
      }
    }

    /** After a request that may have failed: whether the window exists. */
    private void resolve(String owner, String id) {
      at.faults.none();
      String[] parts = owner.split("/", -1);
      LimitSchedules stored =
          parts[0].equals("tiers")
              ? at.tiers.find(new TierName(parts[1])).orElseThrow().schedules()
              : at.tenant(parts[1]).orElseThrow().overrides().schedules();
      Map<String, Window> windows = model.computeIfAbsent(owner, unused -> new HashMap<>());
      Optional<LimitSchedule> found = stored.find(id);
      if (found.isPresent()) {
        windows.put(
            id,
            new Window(
                found.get().opensAt(),
                found.get().closesAt(),
                found.get().factor().value().longValue()));
      } else if (windows.containsKey(id) && at.clock.instant().isBefore(windows.get(id).closes())) {
        windows.remove(id);
      }
    }

    private Optional<Long> factor(String owner) {
      List<Long> open =
          model.getOrDefault(owner, Map.of()).values().stream()
              .filter(window -> window.contains(at.clock.instant()))
              .map(Window::factor)
              .toList();
      assertThat(open).hasSizeLessThan(2);
      return open.stream().findAny();
    }

    private void check() {
      for (String name : TENANTS) {
        Tenant tenant = at.tenant(name).orElseThrow();
        Tier tier = at.tiers.find(tenant.tier()).orElseThrow();
        long factor = factor("tenants/" + name).or(() -> factor("tiers/" + tier.name())).orElse(1L);
        long base =
            tenant
                .overrides()
                .limits()
                .getOrDefault(Limit.TENANT_PER_MINUTE, tier.limits().get(Limit.TENANT_PER_MINUTE));
        BucketSpec row =
            at.buckets.find(ControlPlaneFixture.bucket(name, "connect")).orElseThrow().spec();
        assertThat(tenant.limits().get(Limit.TENANT_PER_MINUTE))
            .as("%s at %s: %s and %s", name, at.clock.instant(), tenant, tier)
            .isEqualTo(base * factor);
        assertThat(row.refill()).isEqualTo(Rate.perMinute(base * factor));
        assertThat(row.capacity()).isEqualTo(base * factor);
        assertThat(tenant.limits().get(Limit.TENANT_CONNECTIONS)).isEqualTo(10 * factor);
        assertThat(tenant.buckets().get(new Action("message")).capacity()).isEqualTo(60 * factor);
      }
    }
  }

  @Test
  void limits_are_those_of_the_open_windows_after_each_minutes_sweep() {
    long first = Long.getLong("schedules.seed", System.nanoTime());
    System.out.println("SchedulesPropertyTest: -Dschedules.seed=" + first);
    for (int i = 0; i < HISTORIES; i++) {
      long seed = first + i;
      History history = new History(seed);
      try {
        for (int minute = 0; minute < MINUTES; minute++) {
          history.minute();
          history.check();
        }
      } catch (AssertionError | RuntimeException failed) {
        throw new AssertionError("repeat with -Dschedules.seed=" + seed, failed);
      }
    }
  }
}
