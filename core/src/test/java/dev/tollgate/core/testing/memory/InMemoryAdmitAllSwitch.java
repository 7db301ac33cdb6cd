package dev.tollgate.core.testing.memory;

import dev.tollgate.core.enforcement.AdmitAll;
import dev.tollgate.core.enforcement.AdmitAllSwitch;
import java.util.Optional;

/** A switch in memory, which counts its reads. */
public class InMemoryAdmitAllSwitch implements AdmitAllSwitch {
  private final Outage outage = new Outage();
  private Optional<AdmitAll> state = Optional.empty();
  private int reads;

  /** Makes all methods fail while it lasts. */
  public Outage outage() {
    return outage;
  }

  /** How often it was read. */
  public synchronized int reads() {
    return reads;
  }

  @Override
  public synchronized Optional<AdmitAll> read() {
    reads++;
    outage.check("read");
    return state;
  }

  @Override
  public synchronized void turnOn(AdmitAll on) {
    outage.check("turnOn");
    state = Optional.of(on);
  }

  @Override
  public synchronized void turnOff() {
    outage.check("turnOff");
    state = Optional.empty();
  }
}
