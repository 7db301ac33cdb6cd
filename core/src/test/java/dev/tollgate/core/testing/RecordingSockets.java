package dev.tollgate.core.testing;

import dev.tollgate.core.session.Sockets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Records which sockets were closed. */
public final class RecordingSockets implements Sockets {
  private final List<String> closed = new CopyOnWriteArrayList<>();
  private final Outage outage = new Outage();

  /** What stops sockets from being reached. */
  public Outage outage() {
    return outage;
  }

  /** The connections that were closed, in that order. */
  public List<String> closed() {
    return List.copyOf(closed);
  }

  @Override
  public void close(String connectionId) {
    outage.check("close");
    closed.add(connectionId);
  }
}
