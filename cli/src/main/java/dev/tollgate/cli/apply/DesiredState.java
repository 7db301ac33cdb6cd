package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The tiers and tenants that a file declares. Unknown fields, repeated names and values of the
 * wrong type are reported as errors of the file. The control plane checks the ranges of values.
 *
 * @param tiers request bodies of {@code PUT /tiers/{tier}}, by tier name; empty if the file has no
 *     section {@code tiers}
 * @param tenants the tenants by id; empty if the file has no section {@code tenants}
 */
public record DesiredState(
    Optional<SortedMap<String, ObjectNode>> tiers,
    Optional<SortedMap<String, DesiredTenant>> tenants) {
  /** A valid tenant id. */
  public static final Pattern TENANT_ID = Pattern.compile("[a-z0-9][a-z0-9-]{0,35}");

  /** Describes a valid tenant id in error messages. */
  public static final String VALID_TENANT_ID =
      "1 to 36 lower-case letters, digits and hyphens; no hyphen first";

  /** A valid name of a tier. */
  public static final Pattern TIER_NAME = Pattern.compile("[a-z][a-z0-9-]{0,31}");

  private static final Pattern ACTION = Pattern.compile("[a-z][a-z0-9-]{0,19}");
  private static final String RETREAT = "retreatAbovePercent";
  private static final List<String> TIER_FIELDS =
      List.of(
          "isolation",
          "limits",
          "buckets",
          "fillMode",
          "onUnavailable",
          Limits.MODE_FIELD,
          Limits.LINE,
          RETREAT,
          "hibernateAfterMinutes");
  private static final List<String> OVERRIDE_FIELDS =
      Stream.concat(Limits.NAMES.stream(), Stream.of(Limits.MODE_FIELD, Limits.LINE)).toList();
  private static final String WHOLE_NUMBER = "a whole number, at least 1";
  private static final String FIELDS = "an object";
  private static final String ENTRIES = "an object; {} for none";

  public DesiredState {
    tiers = tiers.map(Collections::unmodifiableSortedMap);
    tenants = tenants.map(Collections::unmodifiableSortedMap);
  }

  /**
   * Reads a file. Invalid values are added to the file's errors; if there are any, the result must
   * not be applied.
   */
  static DesiredState of(YamlFile file) {
    JsonNode document = file.document();
    if (!document.isObject() || document.isEmpty()) {
      file.addError("file", shown(document), "tiers: and tenants:, or one of them");
    }
    only(file, "", document, List.of("tiers", "tenants"));
    return new DesiredState(
        Optional.ofNullable(document.get("tiers")).map(tiers -> tiers(file, tiers)),
        Optional.ofNullable(document.get("tenants")).map(tenants -> tenants(file, tenants)));
  }

  /**
   * Reads a file that has no errors.
   *
   * @throws Failure that lists all errors of the file
   */
  public static DesiredState checked(YamlFile file) {
    DesiredState desired = of(file);
    file.errors().throwIfAny();
    return desired;
  }

  /**
   * Reads the tiers of a file.
   *
   * @param name the name of the file in messages
   * @throws Failure if the file has errors, or no section {@code tiers}
   */
  public static SortedMap<String, ObjectNode> tiers(Path file, String name) {
    return checked(YamlFile.read(file, name))
        .tiers()
        .orElseThrow(() -> Failure.usage(name + ": tiers is missing (expected: a section tiers)"));
  }

  /**
   * A file that declares tiers as they are now.
   *
   * @param tiers the control plane's documents of the tiers
   */
  public static ObjectNode document(Iterable<JsonNode> tiers) {
    ObjectNode document = Json.object();
    ObjectNode declared = document.putObject("tiers");
    for (JsonNode tier : tiers) {
      ObjectNode fields = declared.putObject(tier.path("tier").asText());
      TIER_FIELDS.stream().filter(tier::has).forEach(field -> fields.set(field, tier.path(field)));
    }
    return document;
  }

  private static SortedMap<String, ObjectNode> tiers(YamlFile file, JsonNode tiers) {
    SortedMap<String, ObjectNode> desired = new TreeMap<>();
    if (!isObject(file, "tiers", tiers, ENTRIES)) {
      return desired;
    }
    for (Map.Entry<String, JsonNode> tier : tiers.properties()) {
      String path = "tiers." + tier.getKey();
      matches(
          file,
          path,
          tier.getKey(),
          TIER_NAME,
          "1 to 32 lower-case letters, digits and hyphens; a letter first");
      // A tier with errors is still a tier that tenants may name.
      desired.put(tier.getKey(), Json.object());
      if (isObject(file, path, tier.getValue(), FIELDS)) {
        checkTier(file, path + ".", tier.getValue());
        desired.put(tier.getKey(), tier.getValue().deepCopy());
      }
    }
    return desired;
  }

  private static void checkTier(YamlFile file, String path, JsonNode tier) {
    only(file, path, tier, TIER_FIELDS);
    oneOf(file, path + "isolation", tier.path("isolation"), List.of("POOL", "SILO"));
    JsonNode limits = tier.path("limits");
    if (isObject(file, path + "limits", limits, FIELDS)) {
      only(file, path + "limits.", limits, Limits.NAMES);
      for (String limit : Limits.NAMES) {
        if (!limits.has(limit) && Limits.OPTIONAL.contains(limit)) {
          continue;
        }
        limit(file, path + "limits.", limit, limits.path(limit));
      }
    }
    if (tier.has("buckets") && isObject(file, path + "buckets", tier.path("buckets"), ENTRIES)) {
      for (Map.Entry<String, JsonNode> bucket : tier.path("buckets").properties()) {
        checkBucket(file, path + "buckets." + bucket.getKey(), bucket);
      }
    }
    if (tier.has("fillMode") && !tier.path("fillMode").isTextual()) {
      file.addError(path + "fillMode", shown(tier.path("fillMode")), "a string such as PRODUCER");
    }
    if (tier.has("onUnavailable")) {
      oneOf(file, path + "onUnavailable", tier.path("onUnavailable"), List.of("ADMIT", "REFUSE"));
    }
    checkModes(file, path, tier);
    if (tier.has(RETREAT)) {
      percent(file, path + RETREAT, tier.path(RETREAT));
    }
    if (tier.has(Limits.LINE)) {
      flag(file, path + Limits.LINE, tier.path(Limits.LINE));
    }
    if (tier.has("hibernateAfterMinutes")) {
      minutes(file, path + "hibernateAfterMinutes", tier.path("hibernateAfterMinutes"));
    }
  }

  private static void checkModes(YamlFile file, String path, JsonNode settings) {
    JsonNode modes = settings.path(Limits.MODE_FIELD);
    if (settings.has(Limits.MODE_FIELD)
        && isObject(file, path + Limits.MODE_FIELD, modes, ENTRIES)) {
      only(file, path + Limits.MODE, modes, new TreeSet<>(Limits.MODES.keySet()));
      for (Map.Entry<String, JsonNode> mode : modes.properties()) {
        Optional.ofNullable(Limits.MODES.get(mode.getKey()))
            .ifPresent(
                allowed ->
                    oneOf(file, path + Limits.MODE + mode.getKey(), mode.getValue(), allowed));
      }
    }
  }

  private static void checkBucket(YamlFile file, String path, Map.Entry<String, JsonNode> bucket) {
    matches(
        file,
        path,
        bucket.getKey(),
        ACTION,
        "1 to 20 lower-case letters, digits and hyphens; a letter first");
    JsonNode terms = bucket.getValue();
    if (!isObject(file, path, terms, FIELDS)) {
      return;
    }
    only(file, path + ".", terms, List.of("ratePerMinute", "refill", "capacity"));
    if (terms.has("refill") && isObject(file, path + ".refill", terms.path("refill"), FIELDS)) {
      only(
          file,
          path + ".refill.",
          terms.path("refill"),
          List.of("every", "day", "at", "zone", "carryOver"));
    }
    JsonNode rate = terms.path("ratePerMinute");
    if (terms.has("ratePerMinute") && !rate.isNumber()) {
      file.addError(path + ".ratePerMinute", shown(rate), "tokens a minute, such as 0.2");
    }
    if (terms.has("capacity")) {
      wholeNumber(file, path + ".capacity", terms.path("capacity"));
    }
  }

  private static SortedMap<String, DesiredTenant> tenants(YamlFile file, JsonNode tenants) {
    SortedMap<String, DesiredTenant> desired = new TreeMap<>();
    if (!isObject(file, "tenants", tenants, ENTRIES)) {
      return desired;
    }
    for (Map.Entry<String, JsonNode> tenant : tenants.properties()) {
      String path = "tenants." + tenant.getKey();
      matches(file, path, tenant.getKey(), TENANT_ID, VALID_TENANT_ID);
      if (isObject(file, path, tenant.getValue(), FIELDS)) {
        tenant(file, path + ".", tenant.getValue())
            .ifPresent(read -> desired.put(tenant.getKey(), read));
      }
    }
    return desired;
  }

  /** Reads a tenant; empty if the file does not name its tier. */
  private static Optional<DesiredTenant> tenant(YamlFile file, String path, JsonNode tenant) {
    only(file, path, tenant, List.of("tier", "overrides", "status"));
    boolean hasTier = tenant.path("tier").isTextual();
    if (!hasTier) {
      file.addError(path + "tier", shown(tenant.path("tier")), "the name of a tier");
    }
    SortedMap<String, OverrideValue> overrides = new TreeMap<>();
    JsonNode values = tenant.path("overrides");
    if (tenant.has("overrides") && isObject(file, path + "overrides", values, ENTRIES)) {
      only(file, path + "overrides.", values, OVERRIDE_FIELDS);
      checkModes(file, path + "overrides.", values);
      for (Map.Entry<String, JsonNode> value : values.properties()) {
        if (value.getKey().equals(Limits.LINE)) {
          flag(file, path + "overrides." + Limits.LINE, value.getValue());
        } else if (!value.getKey().equals(Limits.MODE_FIELD)) {
          limit(file, path + "overrides.", value.getKey(), value.getValue());
        }
      }
      overrides.putAll(OverrideValue.in(values));
    }
    if (tenant.has("status")) {
      oneOf(file, path + "status", tenant.path("status"), List.of("ACTIVE", "SUSPENDED"));
    }
    return hasTier
        ? Optional.of(
            new DesiredTenant(
                tenant.path("tier").textValue(), overrides, Json.text(tenant, "status")))
        : Optional.empty();
  }

  private static void only(YamlFile file, String path, JsonNode object, Collection<String> known) {
    for (Map.Entry<String, JsonNode> field : object.properties()) {
      if (!known.contains(field.getKey())) {
        file.addError(
            path + field.getKey(),
            shown(field.getValue()),
            "a known field, one of: " + String.join(", ", known));
      }
    }
  }

  private static boolean isObject(YamlFile file, String path, JsonNode value, String expected) {
    if (!value.isObject()) {
      file.addError(path, shown(value), expected);
    }
    return value.isObject();
  }

  private static void limit(YamlFile file, String path, String limit, JsonNode value) {
    long max = Limits.max(limit);
    if (!value.isIntegralNumber()
        || !value.canConvertToLong()
        || value.longValue() < 1
        || value.longValue() > max) {
      file.addError(path + limit, shown(value), "a whole number, 1 to " + max);
    }
  }

  private static void flag(YamlFile file, String path, JsonNode value) {
    if (!value.isBoolean()) {
      file.addError(path, shown(value), "true or false");
    }
  }

  private static void wholeNumber(YamlFile file, String path, JsonNode value) {
    if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < 1) {
      file.addError(path, shown(value), WHOLE_NUMBER);
    }
  }

  private static void minutes(YamlFile file, String path, JsonNode value) {
    if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < 0) {
      file.addError(path, shown(value), "a whole number of minutes, 0 for never");
    }
  }

  private static void percent(YamlFile file, String path, JsonNode value) {
    if (!value.isIntegralNumber() || value.longValue() < 1 || value.longValue() > 99) {
      file.addError(path, shown(value), "a whole number of percent, 1 to 99");
    }
  }

  private static void oneOf(YamlFile file, String path, JsonNode value, List<String> values) {
    if (!value.isTextual() || !values.contains(value.textValue())) {
      file.addError(path, shown(value), String.join(" or ", values));
    }
  }

  private static void matches(
      YamlFile file, String path, String name, Pattern pattern, String expected) {
    if (!pattern.matcher(name).matches()) {
      file.addError(path, name, expected);
    }
  }

  /** A value as an error shows it: text that looks like a number or an object keeps its quotes. */
  private static String shown(JsonNode value) {
    if (value.isMissingNode()) {
      return "missing";
    }
    boolean plain = value.isTextual() && value.textValue().matches("[A-Za-z_][\\w.-]*");
    String text = plain ? value.textValue() : Json.write(value);
    return text.length() <= 60 ? text : text.substring(0, 60) + "…";
  }

  /**
   * A tenant as the file declares it.
   *
   * @param tier the name of its tier
   * @param overrides the settings that replace those of the tier
   * @param status {@code ACTIVE} or {@code SUSPENDED}; empty to keep the current status, because
   *     operators often suspend a tenant without changing the file
   */
  public record DesiredTenant(
      String tier, SortedMap<String, OverrideValue> overrides, Optional<String> status) {
    public DesiredTenant {
      overrides = Collections.unmodifiableSortedMap(new TreeMap<>(overrides));
    }

    /** The body of the request that onboards this tenant. */
    public ObjectNode onboardingRequest(String tenantId) {
      ObjectNode body = Json.object().put("tenantId", tenantId).put("tier", tier);
      if (!overrides.isEmpty()) {
        body.set("overrides", OverrideValue.document(overrides));
      }
      return body;
    }
  }
}
