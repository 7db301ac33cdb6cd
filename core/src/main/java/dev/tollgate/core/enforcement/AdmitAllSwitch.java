package dev.tollgate.core.enforcement;

import dev.tollgate.core.Unavailable;
import java.util.Optional;

/** Stores the switch. Every method throws {@link Unavailable} if the store fails. */
public interface AdmitAllSwitch {
  /** How it was last turned on, read consistently; empty if it was turned off since. */
  Optional<AdmitAll> read();

  /** Turns it on. Replaces what was stored. */
  void turnOn(AdmitAll state);

  /** Turns it off. */
  void turnOff();
}
