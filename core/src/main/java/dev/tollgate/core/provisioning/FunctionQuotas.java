package dev.tollgate.core.provisioning;

import dev.tollgate.core.InvalidValue;

/**
 * The account's quotas for functions in the deployment's Region.
 *
 * @param executions how many functions without reserved concurrency may run at once, 0 or more
 * @param freeCodeBytes the unused storage for the code of functions, 0 or more
 * @param siloCodeBytes the size of the code of one silo function, greater than 0
 */
public record FunctionQuotas(int executions, long freeCodeBytes, long siloCodeBytes) {
  /**
   * Checks the values.
   *
   * @throws InvalidValue if one is out of range
   */
  public FunctionQuotas {
    InvalidValue.unless(executions >= 0, "executions", executions, ">= 0");
    InvalidValue.unless(freeCodeBytes >= 0, "freeCodeBytes", freeCodeBytes, ">= 0");
    InvalidValue.unless(siloCodeBytes > 0, "siloCodeBytes", siloCodeBytes, "> 0");
  }

  /** How many more silo functions the unused storage has room for. */
  public long moreSilos() {
    return freeCodeBytes / siloCodeBytes;
  }
}
