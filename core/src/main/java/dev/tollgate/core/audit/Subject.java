package dev.tollgate.core.audit;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.tenant.TierName;
import java.util.regex.Pattern;

/**
 * What was changed: a tenant, a tier or the whole deployment.
 *
 * @param value {@code tenant/ID}, {@code tier/NAME} or {@code deployment}
 */
public record Subject(String value) {
  private static final Pattern VALID = Pattern.compile("deployment|(tenant|tier)/[!-~]{1,64}");

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
    return new Subject("tenant/" + id);
  }

  /** A tier. */
  public static Subject tier(TierName name) {
    return new Subject("tier/" + name);
  }

  @Override
  public String toString() {
    return value;
  }
}
