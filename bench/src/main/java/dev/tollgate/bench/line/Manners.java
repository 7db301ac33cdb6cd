package dev.tollgate.bench.line;

import java.util.Locale;

/** How a client behaves after a refusal. */
enum Manners {
  /** It waits exactly as long as it was told. */
  POLITE,
  /** It tries again every second, whatever it was told. */
  IMPOLITE,
  /** It never comes back. */
  NO_SHOW;

  /** The name in files and tables. */
  String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
