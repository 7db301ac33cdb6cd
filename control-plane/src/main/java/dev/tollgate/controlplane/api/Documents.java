package dev.tollgate.controlplane.api;

import dev.tollgate.controlplane.doctor.DriftReport;
import dev.tollgate.controlplane.doctor.Finding;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.tiers.TierCatalog;
import dev.tollgate.controlplane.tiers.TierRollOut;
import dev.tollgate.core.bucket.Calendar;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Refill;
import dev.tollgate.core.enforcement.AdmitAll;
import dev.tollgate.core.tenant.BucketTerms;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.LimitSchedule;
import dev.tollgate.core.tenant.LimitSchedules;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Renders tenants, tiers, drift reports and the switch that lifts all limits as JSON documents. */
final class Documents {
  private Documents() {}

  /** A tenant's desired state. */
  static Map<String, Object> of(Tenant tenant) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tenantId", tenant.id().value());
    document.put("tier", tenant.tier().value());
    document.put("status", tenant.status().name());
    document.put("version", tenant.version());
    Map<String, Object> overrides = new LinkedHashMap<>(limits(tenant.overrides().limits()));
    putModes(overrides, tenant.overrides().modes());
    tenant.overrides().line().ifPresent(on -> overrides.put("line", on));
    document.put("overrides", overrides);
    document.put("limits", limits(tenant.limits().values()));
    putModes(document, tenant.limits().modes());
    document.put("isolation", tenant.isolation().name());
    document.put("line", tenant.line());
    putSchedules(document, "schedules", tenant.overrides().schedules());
    return document;
  }

  /** A tier. */
  static Map<String, Object> of(Tier tier) {
    Map<String, Object> buckets = new TreeMap<>();
    tier.buckets().forEach((action, terms) -> buckets.put(action.value(), of(terms)));
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tier", tier.name().value());
    document.put("isolation", tier.isolation().name());
    document.put("limits", limits(tier.limits().values()));
    putModes(document, tier.limits().modes());
    document.put("buckets", buckets);
    document.put("fillMode", tier.fillPolicy().mode().name());
    document.put("hibernateAfterMinutes", tier.fillPolicy().hibernateAfterMinutes());
    document.put("onUnavailable", tier.onUnavailable().name());
    document.put("line", tier.line());
    tier.retreat()
        .ifPresent(
            rule -> {
              document.put("retreatAbovePercent", rule.abovePercent());
              rule.at().ifPresent(at -> document.put("retreatedAt", at.toString()));
            });
    putSchedules(document, "schedules", tier.schedules());
    document.put("version", tier.version());
    return document;
  }

  /** Puts scheduled limits by their ids, if there are any. */
  static void putSchedules(Map<String, Object> document, String name, LimitSchedules schedules) {
    if (!schedules.all().isEmpty()) {
      Map<String, Object> all = new LinkedHashMap<>();
      schedules.all().forEach(schedule -> all.put(schedule.id(), of(schedule)));
      document.put(name, all);
    }
  }

  private static Map<String, Object> of(LimitSchedule schedule) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("factor", schedule.factor().value());
    document.put("from", schedule.from().toString());
    document.put("to", schedule.to().toString());
    document.put("zone", schedule.zone().getId());
    document.put("open", schedule.isOpen());
    return document;
  }

  /** Scheduled limits with their id. */
  static Map<String, Object> withId(LimitSchedule schedule) {
    Map<String, Object> document = new LinkedHashMap<>(Map.of("id", schedule.id()));
    document.putAll(of(schedule));
    return document;
  }

  /** A tier and the progress of its roll-out. */
  static Map<String, Object> of(Tier tier, TierCatalog.RollOutProgress progress) {
    Map<String, Object> rollout = new LinkedHashMap<>();
    rollout.put("version", tier.version());
    rollout.put("rolledOut", tier.rolledOut());
    rollout.put("complete", TierRollOut.isRolledOut(tier));
    rollout.put("tenants", progress.tenants());
    rollout.put("unsettled", progress.unsettled());
    rollout.put("more", progress.more());
    Map<String, Object> document = new LinkedHashMap<>(of(tier));
    document.put("rollout", rollout);
    return document;
  }

  /** A drift report, without the cursor of its next page. */
  static Map<String, Object> of(DriftReport report) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("findings", report.results().stream().map(Documents::of).toList());
    document.put("resources", report.stage().key());
    document.put("checked", report.checked());
    return document;
  }

  /** The switch that lifts all limits; empty if it is off. */
  static Map<String, Object> of(Optional<AdmitAll> state) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("on", state.isPresent());
    state.ifPresent(
        on -> {
          document.put("since", on.since().toString());
          document.put("until", on.until().toString());
          document.put("reason", on.reason());
          document.put("by", on.by());
        });
    return document;
  }

  private static Map<String, Object> of(DriftReport.Result result) {
    Finding finding = result.finding();
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("kind", finding.deviation().name());
    document.put("resource", finding.resource().key());
    document.put("name", finding.name());
    finding.tenant().ifPresent(id -> document.put("tenantId", id.value()));
    finding.action().ifPresent(action -> document.put("action", action.value()));
    document.put("detail", finding.detail());
    if (finding.pending()) {
      document.put("pending", true);
    }
    result
        .repair()
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
    terms.refill().ifPresent(refill -> putRefill(document, refill));
    terms.capacity().ifPresent(capacity -> document.put("capacity", capacity));
    return document;
  }

  /** Puts a bucket's rate, or its calendar. */
  static void putRefill(Map<String, Object> document, Refill refill) {
    if (refill instanceof Rate rate) {
      document.put("ratePerMinute", rate.tokensPerMinute());
      return;
    }
    Calendar calendar = (Calendar) refill;
    Map<String, Object> terms = new LinkedHashMap<>();
    terms.put("every", calendar.every().name());
    calendar.day().ifPresent(day -> terms.put("day", day.name()));
    terms.put("at", calendar.at().toString());
    terms.put("zone", calendar.zone().getId());
    if (calendar.carryOver()) {
      terms.put("carryOver", true);
    }
    document.put("refill", terms);
  }

  private static void putModes(Map<String, Object> document, Map<Limit, LimitMode> modes) {
    if (!modes.isEmpty()) {
      Map<String, Object> named = new LinkedHashMap<>();
      new EnumMap<>(modes).forEach((limit, mode) -> named.put(limit.key(), mode.name()));
      document.put("modes", named);
    }
  }

  private static Map<String, Long> limits(Map<Limit, Long> limits) {
    Map<Limit, Long> ordered = new EnumMap<>(Limit.class);
    ordered.putAll(limits);
    Map<String, Long> document = new LinkedHashMap<>();
    ordered.forEach((limit, value) -> document.put(limit.key(), value));
    return document;
  }
}
