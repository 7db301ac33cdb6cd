package dev.tollgate.local.engines;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.event.LoggingAdapter;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.scaladsl.ConnectionContext;
import org.apache.pekko.http.scaladsl.Http;
import org.apache.pekko.http.scaladsl.Http$;
import org.apache.pekko.http.scaladsl.HttpExt;
import org.apache.pekko.http.scaladsl.model.HttpRequest;
import org.apache.pekko.http.scaladsl.model.HttpResponse;
import org.apache.pekko.http.scaladsl.settings.ServerSettings;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import scala.concurrent.Future;
import scala.concurrent.Future$;

/**
 * The HTTP routes of ElasticMQ, called in this process without a port.
 *
 * <p>ElasticMQ can only bind its routes to a port. But it takes the HTTP server from its actor
 * system, which stores each extension by its id. So this one is stored there first, and keeps the
 * routes.
 */
final class QueueHttp extends HttpExt {
  private static final long ANSWER_MILLIS = 30_000;
  private static final InetSocketAddress NOWHERE =
      InetSocketAddress.createUnresolved("elasticmq", 0);

  private final ActorSystem actors;
  private final CompletableFuture<Flow<HttpRequest, HttpResponse, Object>> routes =
      new CompletableFuture<>();

  private QueueHttp(ExtendedActorSystem actors) {
    super(actors.settings().config().getConfig("pekko.http"), actors);
    this.actors = actors;
  }

  /** Gives an actor system this HTTP server. */
  static QueueHttp install(ActorSystem actors) {
    QueueHttp http = new QueueHttp((ExtendedActorSystem) actors);
    try {
      Field field = actors.getClass().getDeclaredField("extensions");
      field.setAccessible(true);
      @SuppressWarnings("unchecked") // the type of the field
      Map<Object, Object> extensions = (Map<Object, Object>) field.get(actors);
      extensions.put(Http$.MODULE$, http);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("The queue engine would open a port", e);
    }
    if (Http$.MODULE$.apply(actors) != http) {
      throw new IllegalStateException("The queue engine would open a port");
    }
    return http;
  }

  @Override
  public Future<Http.ServerBinding> bindAndHandleImpl(
      org.apache.pekko.stream.scaladsl.Flow<HttpRequest, HttpResponse, Object> handler,
      String host,
      int port,
      ConnectionContext connectionContext,
      ServerSettings settings,
      LoggingAdapter log,
      Materializer materializer) {
    routes.complete(handler.asJava());
    return Future$.MODULE$.successful(
        new Http.ServerBinding(
            NOWHERE,
            Future$.MODULE$::unit,
            timeout -> Future$.MODULE$.failed(new IllegalStateException("no port"))));
  }

  CompletionStage<EngineAnswer> send(String operation, String body) {
    return send(
        request("POST", "/", EngineAnswer.AMAZON_JSON, body)
            .addHeader(RawHeader.create("X-Amz-Target", "AmazonSQS." + operation)));
  }

  /**
   * Sends a request of the query protocol.
   *
   * @param accepts the values of the caller's {@code Accept} headers
   */
  CompletionStage<EngineAnswer> sendForm(
      String method, String uri, Iterable<String> accepts, String body) {
    var request = request(method, uri, "application/x-www-form-urlencoded", body);
    for (String accept : accepts) {
      request = request.addHeader(HttpHeader.parse("Accept", accept));
    }
    return send(request);
  }

  private static org.apache.pekko.http.javadsl.model.HttpRequest request(
      String method, String uri, String contentType, String body) {
    return org.apache.pekko.http.javadsl.model.HttpRequest.create(uri)
        .withMethod(HttpMethods.lookup(method).orElse(HttpMethods.POST))
        .withEntity(HttpEntities.create(ContentTypes.parse(contentType), body.getBytes(UTF_8)));
  }

  private CompletionStage<EngineAnswer> send(
      org.apache.pekko.http.javadsl.model.HttpRequest request) {
    // Without an executor, Pekko's stages run in the common pool, whose threads callers may block.
    Executor executor = actors.dispatcher();
    return Source.single((HttpRequest) request)
        .via(routes.join())
        .runWith(Sink.head(), actors)
        .thenComposeAsync(
            response ->
                response
                    .entity()
                    .toStrict(ANSWER_MILLIS, actors)
                    .thenApplyAsync(
                        entity -> {
                          Map<String, String> answered = new HashMap<>();
                          response
                              .getHeaders()
                              .forEach(header -> answered.put(header.name(), header.value()));
                          if (!entity.getContentType().equals(ContentTypes.NO_CONTENT_TYPE)) {
                            answered.put("Content-Type", entity.getContentType().toString());
                          }
                          return new EngineAnswer(
                              response.status().intValue(),
                              answered,
                              entity.getData().utf8String());
                        },
                        executor),
            executor);
  }
}
