package dev.tollgate.core.testing.memory;

import dev.tollgate.core.session.Sockets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Records what was sent to which socket, and which were closed. One is open until it is, or goes by
 * itself.
 */
public final class RecordingSockets implements Sockets {
  private final List<String> closed = new CopyOnWriteArrayList<>();
  private final List<Frame> posted = new CopyOnWriteArrayList<>();
  private final Set<String> gone = ConcurrentHashMap.newKeySet();
  private final Outage outage = new Outage();

  /** What stops sockets from being reached. */
  public Outage outage() {
    return outage;
  }

  /** The connections that were closed, in that order. */
  public List<String> closed() {
    return List.copyOf(closed);
  }

  /** The frames that were sent, in that order. */
  public List<Frame> posted() {
    return List.copyOf(posted);
  }

  /** The frames that were sent to a socket, in that order. */
  public List<String> postedTo(String connectionId) {
    return posted.stream()
        .filter(frame -> frame.connectionId().equals(connectionId))
        .map(Frame::text)
        .toList();
  }

  /** A socket goes by itself, and nobody is told. */
  public void lose(String connectionId) {
    gone.add(connectionId);
  }

  /** A socket that was gone, because its handshake was under way, opens. */
  public void opens(String connectionId) {
    gone.remove(connectionId);
    closed.remove(connectionId);
  }

  @Override
  public CloseResult close(String connectionId) {
    outage.check("close");
    boolean isOpen = isOpen(connectionId);
    closed.add(connectionId);
    return isOpen ? CloseResult.CLOSED : CloseResult.GONE;
  }

  @Override
  public boolean isOpen(String connectionId) {
    outage.check("isOpen");
    return !gone.contains(connectionId) && !closed.contains(connectionId);
  }

  @Override
  public PostResult post(String connectionId, String frame) {
    outage.check("post");
    outage.check("post to " + connectionId);
    if (gone.contains(connectionId) || closed.contains(connectionId)) {
      return PostResult.GONE;
    }
    posted.add(new Frame(connectionId, frame));
    return PostResult.SENT;
  }

  /** A frame that was sent to a socket. */
  public record Frame(String connectionId, String text) {}
}
