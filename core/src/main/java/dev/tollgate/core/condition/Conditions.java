package dev.tollgate.core.condition;

import dev.tollgate.core.Unavailable;
import java.util.List;

/** Stores conditions of tenants. Every method throws {@link Unavailable} if the store fails. */
public interface Conditions {
  /** The conditions that are not ordinary; those that cannot be read are left out. */
  List<TenantCondition> list();

  /** Stores a condition. Deletes what was stored if it is ordinary. */
  void put(TenantCondition condition);
}
