package dev.tollgate.aws.config;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.crac.Context;
import org.crac.Core;
import org.crac.Resource;
import software.amazon.awssdk.core.exception.SdkException;

/**
 * Executes the first requests of a function's clients before Lambda takes the function's snapshot
 * (SnapStart). A function that is restored from it finds the classes loaded that requests need;
 * loading them takes seconds of the first handshake on a small processor.
 *
 * <p>A rehearsed request gets an empty response from {@link PrimedHttpClient}: it reads and changes
 * nothing. A real one is sent, for the classes of TLS.
 *
 * <p>Where a function has no SnapStart, nothing is executed.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/lambda/latest/dg/snapstart-runtime-hooks-java.html">Lambda
 *     SnapStart runtime hooks for Java</a>
 */
final class Priming implements Resource {
  private final PrimedHttpClient http;
  private final List<Runnable> rehearsed = new CopyOnWriteArrayList<>();
  private final List<Runnable> real = new CopyOnWriteArrayList<>();

  private Priming(PrimedHttpClient http) {
    this.http = http;
  }

  /** The priming of clients that use {@code http}. Lambda executes it while it is referenced. */
  static Priming of(PrimedHttpClient http) {
    Priming priming = new Priming(http);
    Core.getGlobalContext().register(priming);
    return priming;
  }

  void rehearse(Runnable request) {
    rehearsed.add(request);
  }

  void send(Runnable request) {
    real.add(request);
  }

  @Override
  public void beforeCheckpoint(Context<? extends Resource> context) {
    try {
      rehearse();
      real.forEach(Runnable::run);
    } catch (SdkException e) {
      // A deployment must not fail for this. The first request after a restore is slower.
    }
  }

  /** Executes the requests that are not sent. */
  void rehearse() {
    http.rehearse(() -> rehearsed.forEach(Runnable::run));
  }

  @Override
  public void afterRestore(Context<? extends Resource> context) {}
}
