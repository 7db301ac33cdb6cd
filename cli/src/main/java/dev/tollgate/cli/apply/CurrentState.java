package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Sender;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The tiers and tenants that a deployment has.
 *
 * @param tiers versions by their names; 0 for a default tier that nobody has changed
 * @param tenants by their ids
 */
public record CurrentState(
    SortedMap<String, Long> tiers, SortedMap<String, StandingTenant> tenants) {
  public CurrentState {
    tiers = Collections.unmodifiableSortedMap(tiers);
    tenants = Collections.unmodifiableSortedMap(tenants);
  }

  /**
   * Asks for all of them.
   *
   * @throws Failure if they are not told
   */
  public static CurrentState ask(Sender api) {
    SortedMap<String, Long> tiers = askTiers(api);
    SortedMap<String, StandingTenant> tenants = new TreeMap<>();
    for (JsonNode tenant : tenants(api)) {
      tenants.put(tenant.path("tenantId").asText(), StandingTenant.of(tenant));
    }
    return new CurrentState(tiers, tenants);
  }

  /**
   * Asks for the tiers.
   *
   * @return their versions by their names
   * @throws Failure if they are not told
   */
  static SortedMap<String, Long> askTiers(Sender api) {
    SortedMap<String, Long> tiers = new TreeMap<>();
    for (JsonNode tier : api.get("/tiers").orFail().json().path("tiers")) {
      tiers.put(tier.path("tier").asText(), tier.path("version").asLong());
    }
    return tiers;
  }

  /** All tenants, page by page, as the control plane lists them. */
  public static List<JsonNode> tenants(Sender api) {
    return tenants(api, Collections.emptySortedMap());
  }

  /** The same of those alone that these query parameters tell of. */
  public static List<JsonNode> tenants(Sender api, SortedMap<String, String> filters) {
    List<JsonNode> tenants = new ArrayList<>();
    Optional<String> cursor = Optional.empty();
    do {
      SortedMap<String, String> query = new TreeMap<>(filters);
      cursor.ifPresent(next -> query.put("cursor", next));
      String text = query.isEmpty() ? "" : "?" + Api.query(query);
      JsonNode page = api.get("/tenants" + text).orFail().json();
      page.path("tenants").forEach(tenants::add);
      cursor = Json.text(page, "next");
    } while (cursor.isPresent());
    return tenants;
  }

  /** How many tenants have a tier, those included that are being removed. */
  long tenantsOf(String tier) {
    return tenants.values().stream().filter(tenant -> tenant.tier().equals(tier)).count();
  }

  /**
   * What is said of a tenant.
   *
   * @param tier the name of its tier
   * @param overrides all limits that are its own
   * @param status {@code ACTIVE}, {@code SUSPENDED} or {@code OFFBOARDING}
   * @param version counts its changes, those of its tier's roll-outs included
   */
  public record StandingTenant(
      String tier, SortedMap<String, Long> overrides, String status, long version) {
    public StandingTenant {
      overrides = Collections.unmodifiableSortedMap(new TreeMap<>(overrides));
    }

    static StandingTenant of(JsonNode tenant) {
      SortedMap<String, Long> overrides = new TreeMap<>();
      tenant
          .path("overrides")
          .properties()
          .forEach(limit -> overrides.put(limit.getKey(), limit.getValue().asLong()));
      return new StandingTenant(
          tenant.path("tier").asText(),
          overrides,
          tenant.path("status").asText(),
          tenant.path("version").asLong());
    }

    public boolean isLeaving() {
      return status.equals("OFFBOARDING");
    }

    /** Whether nothing but the version may differ. */
    boolean saysTheSameAs(StandingTenant other) {
      return tier.equals(other.tier)
          && overrides.equals(other.overrides)
          && status.equals(other.status);
    }

    public boolean isAs(DesiredState.WantedTenant wanted) {
      return tier.equals(wanted.tier())
          && overrides.equals(wanted.overrides())
          && !isLeaving()
          && wanted.status().map(status::equals).orElse(true);
    }
  }
}
