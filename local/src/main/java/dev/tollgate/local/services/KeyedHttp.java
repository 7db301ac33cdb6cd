package dev.tollgate.local.services;

import java.lang.reflect.Field;
import java.util.Map;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.event.LoggingAdapter;
import org.apache.pekko.http.scaladsl.ConnectionContext;
import org.apache.pekko.http.scaladsl.Http;
import org.apache.pekko.http.scaladsl.Http$;
import org.apache.pekko.http.scaladsl.HttpExt;
import org.apache.pekko.http.scaladsl.model.HttpRequest;
import org.apache.pekko.http.scaladsl.model.HttpResponse;
import org.apache.pekko.http.scaladsl.settings.ServerSettings;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.scaladsl.Flow;
import scala.concurrent.Future;

/**
 * The HTTP server that ElasticMQ binds, with a check of the engine's key before it. A request
 * without the key breaks its connection.
 *
 * <p>ElasticMQ lets nobody put a filter before its routes, but it takes the HTTP server from its
 * actor system, where each extension is kept by its id. So this one is put there first.
 */
final class KeyedHttp extends HttpExt {
  private final EngineKey key;

  private KeyedHttp(ExtendedActorSystem actors, EngineKey key) {
    super(actors.settings().config().getConfig("pekko.http"), actors);
    this.key = key;
  }

  /** Has an actor system serve HTTP only to those who have a key. */
  static void install(ActorSystem actors, EngineKey key) {
    Map<Object, Object> extensions = extensions(actors);
    extensions.put(Http$.MODULE$, new KeyedHttp((ExtendedActorSystem) actors, key));
    if (!(Http$.MODULE$.apply(actors) instanceof KeyedHttp)) {
      throw new IllegalStateException("The queues' engine would take requests without its key");
    }
  }

  @SuppressWarnings("unchecked") // the type of the field
  private static Map<Object, Object> extensions(ActorSystem actors) {
    try {
      Field extensions = actors.getClass().getDeclaredField("extensions");
      extensions.setAccessible(true);
      return (Map<Object, Object>) extensions.get(actors);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("The queues' engine would take requests without its key", e);
    }
  }

  @Override
  public Future<Http.ServerBinding> bindAndHandleImpl(
      Flow<HttpRequest, HttpResponse, Object> handler,
      String host,
      int port,
      ConnectionContext connectionContext,
      ServerSettings settings,
      LoggingAdapter log,
      Materializer materializer) {
    return super.bindAndHandleImpl(
        org.apache.pekko.stream.javadsl.Flow.of(HttpRequest.class)
            .map(this::checked)
            .via(handler.asJava())
            .mapMaterializedValue(Object.class::cast)
            .asScala(),
        host,
        port,
        connectionContext,
        settings,
        log,
        materializer);
  }

  private HttpRequest checked(HttpRequest request) {
    if (!key.opens(request.getHeader(EngineKey.header()).map(header -> header.value()))) {
      throw new SecurityException("a request without the engine's key");
    }
    return request;
  }
}
