package dev.tollgate.core.testing.memory;

import dev.tollgate.core.session.Sockets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * Records the frames sent to sockets, and the sockets closed. A socket is open until it is closed
 * or lost.
 */
public final class RecordingSockets implements Sockets {
  private final List<String> closed = new CopyOnWriteArrayList<>();
  private final List<Frame> posted = new CopyOnWriteArrayList<>();
  private final Set<String> lost = ConcurrentHashMap.newKeySet();
  private final Outage outage = new Outage();
  private volatile Consumer<String> whenChecked = id -> {};

  /** The outage of sends and closes. */
  public Outage outage() {
    return outage;
  }

  /** The closed connections, in order. */
  public List<String> closed() {
    return List.copyOf(closed);
  }

  /** The sent frames, in order. */
  public List<Frame> posted() {
    return List.copyOf(posted);
  }

  /** The frames sent to one socket, in order. */
  public List<String> postedTo(String connectionId) {
    return posted.stream()
        .filter(frame -> frame.connectionId().equals(connectionId))
        .map(Frame::text)
        .toList();
  }

  /** Closes a socket without a report. */
  public void lose(String connectionId) {
    lost.add(connectionId);
  }

  /** Opens a socket that was lost, as at the end of its handshake. */
  public void open(String connectionId) {
    lost.remove(connectionId);
    closed.remove(connectionId);
  }

  @Override
  public CloseResult close(String connectionId) {
    outage.check("close");
    boolean isOpen = isOpen(connectionId);
    closed.add(connectionId);
    return isOpen ? CloseResult.CLOSED : CloseResult.GONE;
  }

  /** Passes the id of each checked connection to {@code then}. */
  public void whenChecked(Consumer<String> then) {
    whenChecked = then;
  }

  @Override
  public boolean isOpen(String connectionId) {
    outage.check("isOpen");
    whenChecked.accept(connectionId);
    return !lost.contains(connectionId) && !closed.contains(connectionId);
  }

  @Override
  public PostResult post(String connectionId, String frame) {
    outage.check("post");
    outage.check("post to " + connectionId);
    if (lost.contains(connectionId) || closed.contains(connectionId)) {
      return PostResult.GONE;
    }
    posted.add(new Frame(connectionId, frame));
    return PostResult.SENT;
  }

  /** A frame sent to a socket. */
  public record Frame(String connectionId, String text) {}
}
