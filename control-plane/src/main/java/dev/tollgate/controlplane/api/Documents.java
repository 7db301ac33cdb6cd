package dev.tollgate.controlplane.api;

import dev.tollgate.controlplane.doctor.Doctor;
import dev.tollgate.controlplane.doctor.Finding;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.tiers.TierCatalog;
import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.tenant.BucketTerms;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.http.JsonFields;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Tenants and tiers as JSON documents. */
public final class Documents {
  private static final String RATE = "tokens a minute, such as 0.2";
  private static final String CAPACITY = "a whole number, 1 to " + BucketSpec.MAX_CAPACITY;
  private static final String MINUTES = "a whole number, 0 for never to " + FillPolicy.MAX_MINUTES;
  private static final String VERSION = "a whole number, as GET answers it";

  private Documents() {}

  /** What is written down of a tenant. */
  public static Map<String, Object> of(Tenant tenant) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tenantId", tenant.id().value());
    document.put("tier", tenant.tier().value());
    document.put("status", tenant.status().name());
    document.put("version", tenant.version());
    document.put("overrides", limits(tenant.overrides()));
    document.put("limits", limits(tenant.limits().values()));
    document.put("isolation", tenant.isolation().name());
    return document;
  }

  /** A tier. */
  public static Map<String, Object> of(Tier tier) {
    Map<String, Object> buckets = new TreeMap<>();
    tier.buckets().forEach((action, terms) -> buckets.put(action.value(), of(terms)));
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tier", tier.name().value());
    document.put("isolation", tier.isolation().name());
    document.put("limits", limits(tier.limits().values()));
    document.put("buckets", buckets);
    document.put("fillMode", tier.fillPolicy().mode().name());
    document.put("hibernateAfterMinutes", tier.fillPolicy().hibernateAfterMinutes());
    document.put("onUnavailable", tier.onUnavailable().name());
    document.put("version", tier.version());
    return document;
  }

  /** A tier, and how far it has been brought to those who have it. */
  public static Map<String, Object> of(Tier tier, TierCatalog.Reach reach) {
    Map<String, Object> rollout = new LinkedHashMap<>();
    rollout.put("version", tier.version());
    rollout.put("rolledOut", tier.rolledOut());
    rollout.put("complete", TierCatalog.isRolledOut(tier));
    rollout.put("tenants", reach.tenants());
    rollout.put("unsettled", reach.unsettled());
    rollout.put("more", reach.more());
    Map<String, Object> document = new LinkedHashMap<>(of(tier));
    document.put("rollout", rollout);
    return document;
  }

  /** A part of a walk, but for where it goes on. */
  public static Map<String, Object> of(Doctor.Round round) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("findings", round.diagnoses().stream().map(Documents::of).toList());
    document.put("resources", round.stage().key());
    document.put("checked", round.checked());
    return document;
  }

  private static Map<String, Object> of(Doctor.Diagnosis diagnosis) {
    Finding finding = diagnosis.finding();
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("kind", finding.kind().name());
    document.put("resource", finding.resource().key());
    document.put("name", finding.name());
    finding.tenant().ifPresent(id -> document.put("tenantId", id.value()));
    finding.action().ifPresent(action -> document.put("action", action.value()));
    document.put("detail", finding.detail());
    diagnosis
        .outcome()
        .ifPresent(
            outcome -> {
              document.put("repaired", outcome instanceof ReconcileOutcome.Settled);
              if (outcome instanceof ReconcileOutcome.Pending pending) {
                document.put("reason", String.join("; ", pending.reasons()));
              }
            });
    return document;
  }

  private static Map<String, Object> of(BucketTerms terms) {
    Map<String, Object> document = new LinkedHashMap<>();
    terms.rate().ifPresent(rate -> document.put("ratePerMinute", rate.tokensPerMinute()));
    terms.capacity().ifPresent(capacity -> document.put("capacity", capacity));
    return document;
  }

  private static Map<String, Long> limits(Map<Limit, Long> limits) {
    Map<Limit, Long> ordered = new EnumMap<>(Limit.class);
    ordered.putAll(limits);
    Map<String, Long> document = new LinkedHashMap<>();
    ordered.forEach((limit, value) -> document.put(limit.key(), value));
    return document;
  }

  /**
   * The overrides in {@code overrides}, if the field is there.
   *
   * @throws InvalidValue if one is unknown or out of range
   */
  public static Optional<Map<Limit, Long>> overrides(JsonFields fields) {
    return fields.optionalObject("overrides").map(overrides -> limits(overrides, "overrides"));
  }

  private static Map<Limit, Long> limits(JsonFields fields, String parent) {
    fields.only(Arrays.stream(Limit.values()).map(Limit::key).toArray(String[]::new));
    Map<Limit, Long> limits = new EnumMap<>(Limit.class);
    for (Limit limit : Limit.values()) {
      fields
          .optionalWholeNumber(limit.key(), limit.expected())
          .ifPresent(value -> limits.put(limit, checked(limit, value, parent)));
    }
    return limits;
  }

  private static long checked(Limit limit, long value, String parent) {
    try {
      return limit.checked(value);
    } catch (InvalidValue refused) {
      throw refused.within(parent);
    }
  }

  /**
   * A tier as it is to be, its versions apart.
   *
   * @throws InvalidValue if it cannot be so
   */
  public static Tier tier(TierName name, JsonFields fields) {
    fields.only(
        "tier",
        "isolation",
        "limits",
        "buckets",
        "fillMode",
        "hibernateAfterMinutes",
        "onUnavailable",
        "version",
        // What GET answers may be put again; how far the tier has come is not the sender's to say.
        "rollout");
    Optional<String> said = fields.optionalText("tier", name.value());
    InvalidValue.unless(
        said.isEmpty() || said.get().equals(name.value()), "tier", said.orElse(""), name.value());
    return new Tier(
        name,
        oneOf(fields, "isolation", Isolation.values())
            .orElseThrow(() -> fields.missing("isolation", "SILO or POOL")),
        limits(fields.object("limits")),
        fields.optionalObject("buckets").map(Documents::buckets).orElse(Map.of()),
        filling(fields),
        oneOf(fields, "onUnavailable", OnUnavailable.values()).orElse(OnUnavailable.ADMIT),
        0,
        0);
  }

  private static FillPolicy filling(JsonFields fields) {
    return new FillPolicy(
        oneOf(fields, "fillMode", FillMode.values()).orElse(FillPolicy.DEFAULT.mode()),
        fields
            .optionalWholeNumber("hibernateAfterMinutes", MINUTES)
            .orElse(FillPolicy.DEFAULT.hibernateAfterMinutes()));
  }

  /**
   * The version of a tier that is to be replaced, if the document says it.
   *
   * @throws InvalidValue if that is no whole number
   */
  public static Optional<Long> version(JsonFields fields) {
    return fields.optionalWholeNumber("version", VERSION);
  }

  private static <E extends Enum<E>> Optional<E> oneOf(
      JsonFields fields, String name, E[] constants) {
    return fields.optionalOneOf(name, List.of(constants));
  }

  private static Limits limits(JsonFields fields) {
    Map<Limit, Long> limits = limits(fields, "limits");
    for (Limit limit : Limit.values()) {
      if (!limits.containsKey(limit) && limit.defaultValue().isEmpty()) {
        throw fields.missing(limit.key(), limit.expected());
      }
    }
    try {
      return new Limits(limits);
    } catch (InvalidValue refused) {
      throw refused.within("limits");
    }
  }

  private static Map<Action, BucketTerms> buckets(JsonFields fields) {
    Map<Action, BucketTerms> buckets = new LinkedHashMap<>();
    for (String name : fields.names()) {
      JsonFields terms = fields.object(name).only("ratePerMinute", "capacity");
      try {
        buckets.put(action(name), terms(terms));
      } catch (InvalidValue refused) {
        throw refused.field().startsWith("buckets.") ? refused : refused.within("buckets." + name);
      }
    }
    return buckets;
  }

  private static Action action(String name) {
    try {
      return new Action(name);
    } catch (InvalidValue refused) {
      throw new InvalidValue("buckets." + name, name, refused.expected());
    }
  }

  private static BucketTerms terms(JsonFields fields) {
    Optional<BigDecimal> rate = fields.optionalNumber("ratePerMinute", RATE);
    Optional<Long> capacity = fields.optionalWholeNumber("capacity", CAPACITY);
    capacity.ifPresent(most -> InvalidValue.inRange("capacity", most, 1, BucketSpec.MAX_CAPACITY));
    return new BucketTerms(rate.map(Rate::perMinute), capacity);
  }
}
