package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.lambda.runtime.FunctionSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * An upgrade under load, and back: the functions of the last release and of this one work side by
 * side on the same rows and queues. {@code bench/upgrade} builds the last release and runs this.
 */
final class UpgradeIT {
  /** The parts of the last release, one phase after another. */
  private static final List<Double> PHASES = List.of(1.0, 0.5, 0.0, 0.5, 1.0);

  private static final int MINUTES = 3;
  private static final int RATE = 6;
  private static final int CAPACITY = 12;
  private static final int DEMAND = 10;
  private static final int MESSAGES = 10;
  private static final List<String> MODES = List.of("PRODUCER", "DIRECT", "SHARED");

  private volatile double lastRelease = 1;
  private final Map<String, Integer> admitted = new TreeMap<>();
  private final Map<String, List<Handshake>> held = new TreeMap<>();
  private final Map<String, List<String>> sessions = new TreeMap<>();
  private final Map<String, Integer> sent = new TreeMap<>();
  private int minutes;

  private static String tight(String mode, boolean line) {
    return (line ? "line-" : "tight-") + mode.toLowerCase(Locale.ROOT);
  }

  private static String document(String mode, boolean line, int rate, int capacity, int messages) {
    return """
        {"isolation": "%s", "fillMode": "%s", "hibernateAfterMinutes": 2, "line": %s,
         "buckets": {"connect": {"capacity": %d}},
         "limits": {"tenantPerMinute": %d, "sessionPerMinute": 1000, "connectionsPerSession": 1000,
                    "tenantConnections": 1000, "sessionTTL": 86400, "messagesPerMinute": %d}}"""
        .formatted(
            mode.equals("SILO") ? "SILO" : "POOL",
            mode.equals("SILO") ? "PRODUCER" : mode,
            line,
            capacity,
            rate,
            messages);
  }

  /** The function as the last release has it. */
  private static FunctionSpec ofLastRelease(FunctionSpec function, Map<String, String> more) {
    String module =
        function.handler().startsWith("dev.tollgate.controlplane.")
            ? "control-plane"
            : function.handler().startsWith("dev.tollgate.producer.")
                ? "token-producer"
                : function.handler().startsWith("dev.tollgate.console.") ? "console" : "handlers";
    Path jar =
        Path.of(
            System.getProperty("upgrade.from"), module, "target", "tollgate-" + module + ".jar");
    assertThat(jar).exists();
    Map<String, String> environment = new HashMap<>(more);
    environment.putAll(function.environment());
    return new FunctionSpec(
        function.name(),
        function.arns(),
        jar,
        function.runtime(),
        function.handler(),
        function.roleArn(),
        environment,
        function.timeout(),
        function.memoryMb(),
        function.reservedConcurrency());
  }

  @Test
  void both_releases_serve_the_same_tenants_and_the_upgrade_can_be_taken_back() throws Exception {
    long logged = Files.exists(LocalDeployment.LOG) ? Files.size(LocalDeployment.LOG) : 0;
    // The last release's producer assumed a role for each tenant; any role does without policies.
    try (LocalDeployment at = LocalDeployment.withoutIam()) {
      Map<String, String> more = new HashMap<>();
      at.cloud()
          .runBeside(
              function -> {
                if (function.environment().containsKey("TENANT_ROLE_ARN")) {
                  more.put("TENANT_ROLE_ARN", function.environment().get("TENANT_ROLE_ARN"));
                }
                return function;
              },
              () -> 0);
      at.cloud().runBeside(function -> ofLastRelease(function, more), () -> lastRelease);
      begin(at);
      int phase = 0;
      for (double part : PHASES) {
        lastRelease = part;
        phase++;
        changeTiers(at, phase);
        for (int minute = 0; minute < MINUTES; minute++) {
          load(at);
          at.advance(Duration.ofMinutes(1));
          minutes++;
        }
        check(at, phase);
        if (phase == 1 && System.getProperty("upgrade.record") != null) {
          RecordedRows.write(at, Path.of(System.getProperty("upgrade.record")));
        }
      }
      System.out.println("admitted in " + minutes + " minutes: " + admitted + ", sent: " + sent);
    }
    String log = Files.readString(LocalDeployment.LOG).substring((int) logged);
    assertThat(log.lines().filter(line -> line.matches("(?s).*(cannot be read|schema version).*")))
        .isEmpty();
  }

  private void begin(LocalDeployment at) {
    for (String mode : MODES) {
      for (boolean line : new boolean[] {false, true}) {
        String name = tight(mode, line);
        // DIRECT sends ten tokens a minute at most.
        String tier = document(mode, line, RATE, CAPACITY, 10);
        assertThat(at.control("PUT", "/tiers/" + name, tier).status()).isEqualTo(201);
        assertThat(at.onboard(name, name, "{}").status()).isEqualTo(201);
      }
    }
    for (String mode : List.of("PRODUCER", "SHARED", "SILO")) {
      String name = roomy(mode);
      at.control("PUT", "/tiers/" + name, document(mode, true, 600, 600, 600));
      assertThat(at.onboard(name, name, "{}").status()).isEqualTo(201);
      held.put(name, new ArrayList<>());
      sessions.put(name, new ArrayList<>());
    }
  }

  private static String roomy(String mode) {
    return "roomy-" + mode.toLowerCase(Locale.ROOT);
  }

  /** Changes the rate of messages of all roomy tiers, which rolls them out. */
  private void changeTiers(LocalDeployment at, int phase) {
    for (String tier : held.keySet()) {
      String mode = tier.substring("roomy-".length()).toUpperCase(Locale.ROOT);
      assertThat(
              at.control("PUT", "/tiers/" + tier, document(mode, true, 600, 600, 600 + phase))
                  .status())
          .isIn(200, 202);
    }
  }

  private void load(LocalDeployment at) throws Exception {
    for (String mode : MODES) {
      for (boolean line : new boolean[] {false, true}) {
        String tenant = tight(mode, line);
        List<Handshake> attempts =
            at.connectAll(DEMAND, tenant, List.of(at.open(tenant), at.open(tenant)));
        for (Handshake attempt : attempts) {
          assertThat(attempt.status()).isIn(101, 429);
          if (attempt.status() == 101) {
            admitted.merge(tenant, 1, Integer::sum);
            at.close(attempt);
          }
        }
      }
    }
    for (String tenant : held.keySet()) {
      List<String> opened = sessions.computeIfAbsent(tenant, any -> new ArrayList<>());
      opened.add(at.open(tenant));
      // Sessions of every phase are still valid.
      for (String session : opened) {
        Handshake handshake = at.connect(tenant, session);
        assertThat(handshake.status())
            .as("%s, a session of this or a previous phase", tenant)
            .isEqualTo(101);
        at.close(handshake);
      }
      Handshake kept = at.connect(tenant, opened.get(0));
      assertThat(kept.status()).isEqualTo(101);
      held.get(tenant).add(kept);
      send(tenant, kept);
    }
  }

  /** Sends messages, and waits for the reply to each. */
  private void send(String tenant, Handshake from) throws InterruptedException {
    String action = tenant.endsWith("silo") ? "SiloSQS" : "PooledSQS";
    int first = sent.getOrDefault(tenant, 0);
    List<String> ids = IntStream.range(first, first + MESSAGES).mapToObj(i -> "m-" + i).toList();
    for (String id : ids) {
      from.send("{\"action\":\"%s\",\"id\":\"%s\",\"message\":1}".formatted(action, id));
    }
    assertThat(
            from.frames().await("reply", MESSAGES).stream().map(frame -> frame.get("id").asText()))
        .as("replies to %s", tenant)
        .containsExactlyElementsOf(ids);
    sent.merge(tenant, MESSAGES, Integer::sum);
  }

  private void check(LocalDeployment at, int phase) throws Exception {
    at.advance(Duration.ofMinutes(2));
    minutes += 2;
    for (String mode : MODES) {
      int most = CAPACITY + RATE * (minutes + 1);
      int least = (CAPACITY + RATE * (minutes - 2)) * 9 / 10;
      assertThat(admitted.getOrDefault(tight(mode, false), 0))
          .as("admitted of %s in %d minutes", tight(mode, false), minutes)
          .isBetween(Math.min(least, DEMAND * MINUTES * phase * 6 / 10), most);
      assertThat(admitted.getOrDefault(tight(mode, true), 0)).isBetween(1, most);
    }
    held.forEach(
        (tenant, sockets) -> {
          JsonNode document = at.control("GET", "/tenants/" + tenant).body();
          assertThat(document.at("/connections").asInt())
              .as("connections of %s in phase %d", tenant, phase)
              .isEqualTo(sockets.size());
          assertThat(document.at("/limits/messagesPerMinute").asInt()).isEqualTo(600 + phase);
          JsonNode tier = at.control("GET", "/tiers/" + tenant).body();
          assertThat(tier.at("/rollout/complete").asBoolean())
              .as("roll-out of %s in phase %d", tenant, phase)
              .isTrue();
          assertThat(tier.at("/rollout/unsettled").asInt()).isZero();
        });
    assertThat(
            LocalDeployment.allFindings(
                query -> at.control("GET", "/drift" + query).body().toString()))
        .as("drift in phase %d", phase)
        .isEmpty();
  }
}
