package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.command.Tiers;
import dev.tollgate.cli.http.Json;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The tiers and tenants that a file wants to be there, and nothing that cannot be: unknown names,
 * names twice and values of the wrong type are refused. How large a value may be is for the control
 * plane to say.
 *
 * @param tiers documents as {@code PUT /tiers/{tier}} takes them; empty if the file does not speak
 *     of tiers
 * @param tenants by their ids; empty if the file does not speak of tenants
 */
public record DesiredState(
    Optional<SortedMap<String, ObjectNode>> tiers,
    Optional<SortedMap<String, WantedTenant>> tenants) {
  /** What a tenant's id looks like (control plane). */
  public static final Pattern TENANT_ID = Pattern.compile("[a-z0-9][a-z0-9-]{0,35}");

  private static final Pattern TIER_NAME = Pattern.compile("[a-z][a-z0-9-]{0,31}");
  private static final Pattern ACTION = Pattern.compile("[a-z][a-z0-9-]{0,19}");
  private static final List<String> TIER_FIELDS =
      List.of(
          "isolation", "limits", "buckets", "fillMode", "onUnavailable", "hibernateAfterMinutes");
  private static final String WHOLE_NUMBER = "a whole number, 1 or more";
  private static final String FIELDS = "an object";
  private static final String ENTRIES = "an object; {} for none";

  public DesiredState {
    tiers = tiers.map(Collections::unmodifiableSortedMap);
    tenants = tenants.map(Collections::unmodifiableSortedMap);
  }

  /**
   * Reads what a file wants. What is wrong is added to the file's mistakes; the file is not to be
   * acted on then.
   */
  static DesiredState of(YamlFile file) {
    JsonNode document = file.document();
    if (!document.isObject() || document.isEmpty()) {
      file.wrong("file", said(document), "tiers: and tenants:, or one of them");
    }
    only(file, "", document, List.of("tiers", "tenants"));
    return new DesiredState(
        Optional.ofNullable(document.get("tiers")).map(tiers -> tiers(file, tiers)),
        Optional.ofNullable(document.get("tenants")).map(tenants -> tenants(file, tenants)));
  }

  private static SortedMap<String, ObjectNode> tiers(YamlFile file, JsonNode tiers) {
    SortedMap<String, ObjectNode> wanted = new TreeMap<>();
    if (!isObject(file, "tiers", tiers, ENTRIES)) {
      return wanted;
    }
    for (Map.Entry<String, JsonNode> tier : tiers.properties()) {
      String path = "tiers." + tier.getKey();
      matches(file, path, tier.getKey(), TIER_NAME);
      // Tenants may refer to a tier with mistakes as well.
      wanted.put(tier.getKey(), Json.object());
      if (isObject(file, path, tier.getValue(), FIELDS)) {
        checkTier(file, path + ".", tier.getValue());
        wanted.put(tier.getKey(), tier.getValue().deepCopy());
      }
    }
    return wanted;
  }

  private static void checkTier(YamlFile file, String path, JsonNode tier) {
    only(file, path, tier, TIER_FIELDS);
    oneOf(file, path + "isolation", tier.path("isolation"), List.of("POOL", "SILO"));
    JsonNode limits = tier.path("limits");
    if (isObject(file, path + "limits", limits, FIELDS)) {
      only(file, path + "limits.", limits, Tiers.LIMITS);
      for (String limit : Tiers.LIMITS) {
        if (!limits.has(limit) && Tiers.OPTIONAL_LIMITS.contains(limit)) {
          continue;
        }
        wholeNumber(file, path + "limits." + limit, limits.path(limit));
      }
    }
    if (tier.has("buckets") && isObject(file, path + "buckets", tier.path("buckets"), ENTRIES)) {
      for (Map.Entry<String, JsonNode> bucket : tier.path("buckets").properties()) {
        checkBucket(file, path + "buckets." + bucket.getKey(), bucket);
      }
    }
    if (tier.has("fillMode") && !tier.path("fillMode").isTextual()) {
      file.wrong(path + "fillMode", said(tier.path("fillMode")), "a text such as PRODUCER");
    }
    if (tier.has("onUnavailable")) {
      oneOf(file, path + "onUnavailable", tier.path("onUnavailable"), List.of("ADMIT", "REFUSE"));
    }
    if (tier.has("hibernateAfterMinutes")) {
      minutes(file, path + "hibernateAfterMinutes", tier.path("hibernateAfterMinutes"));
    }
  }

  private static void checkBucket(YamlFile file, String path, Map.Entry<String, JsonNode> bucket) {
    matches(file, path, bucket.getKey(), ACTION);
    JsonNode terms = bucket.getValue();
    if (!isObject(file, path, terms, FIELDS)) {
      return;
    }
    only(file, path + ".", terms, List.of("ratePerMinute", "capacity"));
    JsonNode rate = terms.path("ratePerMinute");
    if (terms.has("ratePerMinute") && !rate.isNumber()) {
      file.wrong(path + ".ratePerMinute", said(rate), "tokens a minute, such as 0.2");
    }
    if (terms.has("capacity")) {
      wholeNumber(file, path + ".capacity", terms.path("capacity"));
    }
  }

  private static SortedMap<String, WantedTenant> tenants(YamlFile file, JsonNode tenants) {
    SortedMap<String, WantedTenant> wanted = new TreeMap<>();
    if (!isObject(file, "tenants", tenants, ENTRIES)) {
      return wanted;
    }
    for (Map.Entry<String, JsonNode> tenant : tenants.properties()) {
      String path = "tenants." + tenant.getKey();
      matches(file, path, tenant.getKey(), TENANT_ID);
      if (isObject(file, path, tenant.getValue(), FIELDS)) {
        tenant(file, path + ".", tenant.getValue())
            .ifPresent(read -> wanted.put(tenant.getKey(), read));
      }
    }
    return wanted;
  }

  /** A tenant; empty if the file does not say its tier. */
  private static Optional<WantedTenant> tenant(YamlFile file, String path, JsonNode tenant) {
    only(file, path, tenant, List.of("tier", "overrides", "status"));
    boolean hasTier = tenant.path("tier").isTextual();
    if (!hasTier) {
      file.wrong(path + "tier", said(tenant.path("tier")), "the name of a tier");
    }
    SortedMap<String, Long> overrides = new TreeMap<>();
    JsonNode limits = tenant.path("overrides");
    if (tenant.has("overrides") && isObject(file, path + "overrides", limits, ENTRIES)) {
      only(file, path + "overrides.", limits, Tiers.LIMITS);
      for (Map.Entry<String, JsonNode> limit : limits.properties()) {
        wholeNumber(file, path + "overrides." + limit.getKey(), limit.getValue());
        overrides.put(limit.getKey(), limit.getValue().asLong());
      }
    }
    if (tenant.has("status")) {
      oneOf(file, path + "status", tenant.path("status"), List.of("ACTIVE", "SUSPENDED"));
    }
    return hasTier
        ? Optional.of(
            new WantedTenant(
                tenant.path("tier").textValue(), overrides, Json.text(tenant, "status")))
        : Optional.empty();
  }

  private static void only(YamlFile file, String path, JsonNode object, Collection<String> known) {
    for (Map.Entry<String, JsonNode> field : object.properties()) {
      if (!known.contains(field.getKey())) {
        file.wrong(
            path + field.getKey(),
            said(field.getValue()),
            "a known field, one of: " + String.join(", ", known));
      }
    }
  }

  private static boolean isObject(YamlFile file, String path, JsonNode value, String expected) {
    if (!value.isObject()) {
      file.wrong(path, said(value), expected);
    }
    return value.isObject();
  }

  private static void wholeNumber(YamlFile file, String path, JsonNode value) {
    if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < 1) {
      file.wrong(path, said(value), WHOLE_NUMBER);
    }
  }

  private static void minutes(YamlFile file, String path, JsonNode value) {
    if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < 0) {
      file.wrong(path, said(value), "a whole number of minutes, 0 for never");
    }
  }

  private static void oneOf(YamlFile file, String path, JsonNode value, List<String> texts) {
    if (!value.isTextual() || !texts.contains(value.textValue())) {
      file.wrong(path, said(value), String.join(" or ", texts));
    }
  }

  private static void matches(YamlFile file, String path, String name, Pattern pattern) {
    if (!pattern.matcher(name).matches()) {
      file.wrong(path, name, pattern.pattern());
    }
  }

  /** A value as a mistake tells it: texts that look like something else keep their quotes. */
  private static String said(JsonNode value) {
    if (value.isMissingNode()) {
      return "missing";
    }
    boolean plain = value.isTextual() && value.textValue().matches("[A-Za-z_][\\w.-]*");
    String text = plain ? value.textValue() : Json.write(value);
    return text.length() <= 60 ? text : text.substring(0, 60) + "…";
  }

  /**
   * What a tenant is to be.
   *
   * @param tier the name of its tier
   * @param overrides all limits that are its own
   * @param status {@code ACTIVE} or {@code SUSPENDED}; empty for whatever it is, since that is
   *     often decided on the spot
   */
  public record WantedTenant(
      String tier, SortedMap<String, Long> overrides, Optional<String> status) {
    public WantedTenant {
      overrides = Collections.unmodifiableSortedMap(new TreeMap<>(overrides));
    }
  }
}
