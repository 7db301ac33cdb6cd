package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.CurrentState;
import dev.tollgate.cli.apply.DryRun;
import dev.tollgate.cli.http.Answer;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.IfVersion;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.terminal.Table;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Tenants, through the control plane. */
@Command(name = "tenants", description = "Onboard tenants, look at them, move them, let them go.")
public final class Tenants {
  /** Time between two looks at a tenant that is being removed. */
  private static final Duration LOOK_AGAIN = Duration.ofSeconds(2);

  private final Tollgate tollgate;
  private final Shell shell;

  Tenants(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Command(name = "onboard", description = "Take in a tenant. May be repeated.")
  int onboard(
      @Parameters(paramLabel = "TENANT", description = "Its id: [a-z0-9][a-z0-9-]{0,35}.")
          String tenantId,
      @Option(names = "--tier", paramLabel = "TIER", required = true, description = "Its tier.")
          String tier,
      @Option(
              names = "--set",
              paramLabel = "LIMIT=VALUE",
              description = "A limit that replaces the tier's, e.g. tenantConnections=10.")
          @Nullable Map<String, Long> overrides) {
    Answer answer =
        onboard(tollgate.controlPlane(), tenantId, tier, overrides == null ? Map.of() : overrides);
    String done = answer.status() == 200 ? "%s was onboarded already" : "%s is onboarded";
    return printTenant(answer, done.formatted(tenantId));
  }

  static Answer onboard(Api api, String tenantId, String tier, Map<String, Long> overrides) {
    ObjectNode body = Json.object().put("tenantId", tenantId).put("tier", tier);
    if (!overrides.isEmpty()) {
      body.set("overrides", Json.object(overrides));
    }
    return api.send("POST", "/tenants", body).orFail();
  }

  @Command(name = "list", description = "List the tenants.")
  int list(
      @Option(
              names = "--prefix",
              paramLabel = "TEXT",
              description = "Only those whose ids begin so.")
          Optional<String> prefix,
      @Option(names = "--tier", paramLabel = "TIER", description = "Only those of this tier.")
          Optional<String> tier,
      @Option(
              names = "--pending",
              description = "Only those for which not all is done yet that was asked for.")
          boolean pending) {
    SortedMap<String, String> filters = new TreeMap<>();
    prefix.ifPresent(text -> filters.put("prefix", text));
    tier.ifPresent(name -> filters.put("tier", name));
    if (pending) {
      filters.put("pending", "true");
    }
    ObjectNode all = Json.object();
    ArrayNode tenants = all.putArray("tenants");
    CurrentState.tenants(tollgate.controlPlane(), filters).forEach(tenants::add);
    Table table = new Table("TENANT", "TIER", "STATUS", "ISOLATION", "CONNECTIONS", "OVERRIDES");
    for (JsonNode tenant : tenants) {
      String most = Json.text(tenant.path("limits"), "tenantConnections").orElse("?");
      table.row(
          Json.text(tenant, "tenantId").orElse(""),
          Json.text(tenant, "tier").orElse(""),
          Json.text(tenant, "status").orElse(""),
          Json.text(tenant, "isolation").orElse(""),
          Json.text(tenant, "connections")
              .map(open -> open + " of " + most)
              .orElse("up to " + most),
          tenant.path("overrides").properties().stream()
              .map(limit -> limit.getKey() + "=" + Json.text(limit.getValue()))
              .collect(Collectors.joining(" ")));
    }
    tollgate.print(all, tenants.isEmpty() ? List.of("No tenants.") : table.lines());
    return 0;
  }

  @Command(name = "show", description = "Show a tenant: limits, connections, buckets.")
  int show(@Parameters(paramLabel = "TENANT") String tenantId) {
    Answer answer = tollgate.controlPlane().get(path(tenantId)).orFail();
    tollgate.print(answer, describe(answer.json()));
    return 0;
  }

  @Command(name = "set-tier", description = "Move a tenant to another tier.")
  int setTier(
      @Parameters(paramLabel = "TENANT") String tenantId,
      @Parameters(paramLabel = "TIER") String tier,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    ObjectNode body = Json.object().put("tier", tier);
    return dryRun
        ? preview(tenantId, body, ifVersion)
        : patch(tenantId, body, ifVersion, "%s is in tier %s now", tier);
  }

  @Command(
      name = "override",
      description = "Set a tenant's own limits in place of all that it had; none: the tier's.")
  int override(
      @Parameters(paramLabel = "TENANT", index = "0") String tenantId,
      @Parameters(paramLabel = "LIMIT=VALUE", index = "1..*", arity = "0..*")
          @Nullable Map<String, Long> overrides,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    ObjectNode body = Json.object();
    body.set("overrides", Json.object(overrides == null ? Map.of() : overrides));
    return dryRun
        ? preview(tenantId, body, ifVersion)
        : patch(tenantId, body, ifVersion, "%s has these limits now", tenantId);
  }

  @Command(name = "suspend", description = "Admit no connection of a tenant any more.")
  int suspend(
      @Parameters(paramLabel = "TENANT") String tenantId,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    ObjectNode body = Json.object().put("status", "SUSPENDED");
    return dryRun
        ? preview(tenantId, body, ifVersion)
        : patch(tenantId, body, ifVersion, "%s is suspended", tenantId);
  }

  @Command(name = "activate", description = "Admit a suspended tenant again.")
  int activate(
      @Parameters(paramLabel = "TENANT") String tenantId,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    ObjectNode body = Json.object().put("status", "ACTIVE");
    return dryRun
        ? preview(tenantId, body, ifVersion)
        : patch(tenantId, body, ifVersion, "%s is active", tenantId);
  }

  @Command(
      name = "offboard",
      description = "Remove a tenant with its sessions, queues and schedules, and wait for it.")
  int offboard(
      @Parameters(paramLabel = "TENANT") String tenantId,
      @Option(names = "--yes", description = "Do not ask.") boolean yes,
      @Option(
              names = "--timeout",
              paramLabel = "SECONDS",
              defaultValue = "180",
              description = "How long to wait. Default: ${DEFAULT-VALUE}.")
          long timeoutSeconds) {
    String question = "Remove " + tenantId + " with its sessions, queues and schedules?";
    if (!yes && !shell.terminal().map(terminal -> terminal.confirm().test(question)).orElse(true)) {
      throw Failure.of("Nothing was done");
    }
    Api api = tollgate.controlPlane();
    Answer answer = api.delete(path(tenantId)).orFail();
    if (answer.status() == 202) {
      awaitRemoval(api, tenantId, Duration.ofSeconds(timeoutSeconds));
    }
    tollgate.print(Json.object(), List.of(tenantId + " is gone"));
    return 0;
  }

  private void awaitRemoval(Api api, String tenantId, Duration timeout) {
    long start = shell.nanoTime().getAsLong();
    while (true) {
      Answer answer = api.get(path(tenantId));
      if (answer.status() == 404) {
        return;
      }
      answer.orFail();
      if (shell.nanoTime().getAsLong() - start > timeout.toNanos()) {
        throw Failure.of(
            tenantId
                + " is still being removed after "
                + timeout.toSeconds()
                + " s; the control plane goes on, and the command may be repeated");
      }
      shell.sleep(LOOK_AGAIN);
    }
  }

  private int preview(String tenantId, ObjectNode body, IfVersion ifVersion) {
    DryRun dryRun =
        DryRun.ask(
            tollgate.controlPlane(), tenantId, "PATCH", path(tenantId), body, ifVersion.headers());
    tollgate.print(dryRun.document(), dryRun.lines());
    return dryRun.exitCode();
  }

  private int patch(
      String tenantId, ObjectNode body, IfVersion ifVersion, String done, String argument) {
    Answer answer =
        tollgate
            .controlPlane()
            .send("PATCH", path(tenantId), Optional.of(body), ifVersion.headers())
            .orFail();
    return printTenant(answer, done.formatted(tenantId, argument));
  }

  private int printTenant(Answer answer, String done) {
    List<String> lines = new ArrayList<>(List.of(done, ""));
    lines.addAll(describe(answer.json()));
    tollgate.print(answer, lines);
    return 0;
  }

  public static String path(String tenantId) {
    return "/tenants/" + Api.encode(tenantId);
  }

  /** A tenant's document for a person. */
  private static List<String> describe(JsonNode tenant) {
    Table facts = new Table("", "");
    for (String field :
        List.of("tenantId", "tier", "status", "version", "isolation", "connections")) {
      Json.text(tenant, field).ifPresent(value -> facts.row(field, value));
    }
    List<String> lines = new ArrayList<>(facts.lines());

    Table limits = new Table("LIMIT", "VALUE", "");
    tenant
        .path("limits")
        .properties()
        .forEach(
            limit ->
                limits.row(
                    limit.getKey(),
                    Json.text(limit.getValue()),
                    tenant.path("overrides").has(limit.getKey()) ? "overridden" : ""));
    addTable(lines, limits);

    Table buckets =
        new Table("BUCKET", "PER MINUTE", "CAPACITY", "LEVEL", "FILLED", "STATE", "NEXT TOKEN");
    for (JsonNode bucket : tenant.path("buckets")) {
      buckets.row(
          Json.text(bucket, "action").orElse(""),
          Json.text(bucket, "ratePerMinute").orElse(""),
          Json.text(bucket, "capacity").orElse(""),
          Json.text(bucket, "level").orElse(""),
          Json.text(bucket, "fillMode").orElse(""),
          Json.text(bucket, "state").orElse(""),
          Json.instant(bucket, "nextTokenAt").orElse(""));
    }
    addTable(lines, buckets);
    return lines;
  }

  private static void addTable(List<String> lines, Table table) {
    if (table.lines().size() > 1) {
      lines.add("");
      lines.addAll(table.lines());
    }
  }
}
