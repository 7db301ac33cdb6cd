package dev.tollgate.cli.terminal;

import java.io.PrintWriter;

/** A line of a terminal that is rewritten. Other output must come after {@link #clear}. */
public final class LiveLine {
  private final PrintWriter err;
  private int shown;

  public LiveLine(Shell shell) {
    err = shell.err();
  }

  /** Shows a text instead of the last one. */
  public void show(String text) {
    String plain = PlainText.of(text).replace("\n", " ");
    err.print("\r" + plain + " ".repeat(Math.max(0, shown - plain.length())));
    err.flush();
    shown = plain.length();
  }

  /** Removes the text. */
  public void clear() {
    if (shown > 0) {
      err.print("\r" + " ".repeat(shown) + "\r");
      err.flush();
      shown = 0;
    }
  }
}
