package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.PageIterator;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * The tiers and tenants of a deployment.
 *
 * @param tiers the tiers' versions, by name; 0 for a default tier that was never changed
 * @param tenants the tenants, by id
 */
public record CurrentState(
    SortedMap<String, Long> tiers, SortedMap<String, CurrentTenant> tenants) {
  /** The most characters of a list; 100,000 tenants have some 40 million. */
  private static final long MAX_LENGTH = 64L << 20;

  public CurrentState {
    tiers = Collections.unmodifiableSortedMap(tiers);
    tenants = Collections.unmodifiableSortedMap(tenants);
  }

  /**
   * Reads all tiers and tenants.
   *
   * @throws Failure if a request fails
   */
  public static CurrentState read(Sender api) {
    SortedMap<String, Long> tiers = readTiers(api);
    SortedMap<String, CurrentTenant> tenants = new TreeMap<>();
    for (JsonNode tenant : tenants(api)) {
      tenants.put(tenant.path("tenantId").asText(), CurrentTenant.of(tenant));
    }
    return new CurrentState(tiers, tenants);
  }

  /**
   * Reads the tiers.
   *
   * @return the tiers' versions, by name
   * @throws Failure if the request fails
   */
  static SortedMap<String, Long> readTiers(Sender api) {
    SortedMap<String, Long> tiers = new TreeMap<>();
    for (JsonNode tier : api.get("/tiers").orThrow().json().path("tiers")) {
      tiers.put(tier.path("tier").asText(), tier.path("version").asLong());
    }
    return tiers;
  }

  /** Reads the documents of all tenants, page by page. */
  public static List<JsonNode> tenants(Sender api) {
    return tenants(api, Collections.emptySortedMap());
  }

  /** Reads the documents of the tenants that match the filters, which are query parameters. */
  public static List<JsonNode> tenants(Sender api, SortedMap<String, String> filters) {
    List<JsonNode> tenants = new ArrayList<>();
    LongAdder length = new LongAdder();
    new PageIterator(
            cursor -> {
              SortedMap<String, String> query = new TreeMap<>(filters);
              query.putAll(cursor);
              Response page = api.get("/tenants" + Api.suffix(query)).orThrow();
              length.add(page.body().length());
              if (length.sum() > MAX_LENGTH) {
                throw Failure.of(
                    "The server's list of tenants is longer than %d MB. Check the URL of the deployment."
                        .formatted(MAX_LENGTH >> 20));
              }
              return page.json();
            })
        .forEachRemaining(page -> page.path("tenants").forEach(tenants::add));
    return tenants;
  }

  /** Counts the tenants of a tier, including those that are being removed. */
  long tenantsOf(String tier) {
    return tenants.values().stream().filter(tenant -> tenant.tier().equals(tier)).count();
  }

  /**
   * A tenant as the control plane reports it.
   *
   * @param tier the name of its tier
   * @param overrides the settings that replace those of the tier
   * @param status {@code ACTIVE}, {@code SUSPENDED} or {@code OFFBOARDING}
   * @param version incremented by each change of the tenant, including roll-outs of its tier
   */
  public record CurrentTenant(
      String tier, SortedMap<String, OverrideValue> overrides, String status, long version) {
    public CurrentTenant {
      overrides = Collections.unmodifiableSortedMap(new TreeMap<>(overrides));
    }

    static CurrentTenant of(JsonNode tenant) {
      return new CurrentTenant(
          tenant.path("tier").asText(),
          OverrideValue.in(tenant.path("overrides")),
          tenant.path("status").asText(),
          tenant.path("version").asLong());
    }

    public boolean isBeingRemoved() {
      return status.equals("OFFBOARDING");
    }

    /** Whether the other tenant differs in nothing but the version. */
    boolean hasSameSettingsAs(CurrentTenant other) {
      return tier.equals(other.tier)
          && overrides.equals(other.overrides)
          && status.equals(other.status);
    }

    /** Whether the tenant needs no change to be as desired. */
    public boolean matches(DesiredState.DesiredTenant desired) {
      return tier.equals(desired.tier())
          && overrides.equals(desired.overrides())
          && !isBeingRemoved()
          && desired.status().map(status::equals).orElse(true);
    }
  }
}
