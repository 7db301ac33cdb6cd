package dev.tollgate.core.testing.memory;

import dev.tollgate.core.enforcement.AdmitAllSwitch;
import dev.tollgate.core.testing.contract.AdmitAllSwitchContract;

class InMemoryAdmitAllSwitchTest extends AdmitAllSwitchContract {
  private final AdmitAllSwitch admitAll = new InMemoryAdmitAllSwitch();

  @Override
  protected AdmitAllSwitch admitAll() {
    return admitAll;
  }
}
