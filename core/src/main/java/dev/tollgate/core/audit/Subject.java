package dev.tollgate.core.audit;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.tenant.TierName;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What was changed: a tenant, a tier or the whole deployment.
 *
 * @param value {@code tenant/ID}, {@code tier/NAME} or {@code deployment}
 */
public record Subject(String value) {
  private static final Pattern VALID = Pattern.compile("deployment|(tenant|tier)/[!-~]{1,64}");

  private static final String TENANT = "tenant/";
  private static final String TIER = "tier/";

  /** The whole deployment. */
  public static final Subject DEPLOYMENT = new Subject("deployment");

  /**
   * Checks the text.
   *
   * @throws InvalidValue if it is not of one of the three forms
   */
  public Subject {
    InvalidValue.unless(
        VALID.matcher(value).matches(), "subject", value, "tenant/ID, tier/NAME or deployment");
  }

  /** A tenant. */
  public static Subject tenant(TenantId id) {
    return new Subject(TENANT + id);
  }

  /** A tier. */
  public static Subject tier(TierName name) {
    return new Subject(TIER + name);
  }

  /** The tenant; empty for any other subject. */
  public Optional<TenantId> tenant() {
    return after(TENANT).map(TenantId::new);
  }

  /** The tier; empty for any other subject. */
  public Optional<TierName> tier() {
    return after(TIER).map(TierName::new);
  }

  private Optional<String> after(String prefix) {
    return value.startsWith(prefix)
        ? Optional.of(value.substring(prefix.length()))
        : Optional.empty();
  }

  @Override
  public String toString() {
    return value;
  }
}
