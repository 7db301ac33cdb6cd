package dev.tollgate.handlers.message;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.message.Application;
import dev.tollgate.core.message.IncomingMessage;
import dev.tollgate.core.message.Push;
import dev.tollgate.core.message.Pushes;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.http.VerbatimJson;
import dev.tollgate.message.SendingMessageHandler;
import dev.tollgate.message.TenantMessage;
import dev.tollgate.message.TenantMessageHandler;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;

/** Creates the application's message handler from the name of its class. */
final class HandlerLoader {
  private static final String MESSAGE_HANDLER = "MESSAGE_HANDLER";

  /** The longest time that a handler waits for the sockets of a session. */
  private static final Duration OUTBOX_TIME = Duration.ofSeconds(2);

  private HandlerLoader() {}

  /**
   * The application whose handler class the environment variable {@code MESSAGE_HANDLER} names;
   * {@link Echo} by default.
   *
   * @param pushes sends what a {@link SendingMessageHandler} puts into its outbox
   * @throws IllegalStateException as {@link #load}
   */
  static Application application(Map<String, String> environment, Supplier<Pushes> pushes) {
    TenantMessageHandler handler =
        load(environment.getOrDefault(MESSAGE_HANDLER, Echo.class.getName()));
    if (handler instanceof SendingMessageHandler sending) {
      Pushes outgoing = pushes.get();
      return (message, json) ->
          sending.handle(
              received(message, json), (session, sent) -> send(outgoing, message, session, sent));
    }
    return (message, json) -> handler.handle(received(message, json));
  }

  private static TenantMessage received(IncomingMessage message, String json) {
    return new TenantMessage(
        message.tenant().value(),
        message.session().value(),
        message.connectionId(),
        message.id(),
        json);
  }

  private static int send(Pushes pushes, IncomingMessage message, String session, String json) {
    InvalidValue.unless(VerbatimJson.isJson(json), "message", json, "a JSON text");
    Push push = new Push(message.tenant(), message.id(), json);
    return pushes
        .toSession(push, new SessionId(session), OUTBOX_TIME)
        .map(Pushes.Delivered::sockets)
        .orElse(0);
  }

  /**
   * A new handler of this class.
   *
   * @throws IllegalStateException if the class is missing or cannot be used as a handler
   */
  static TenantMessageHandler load(String name) {
    try {
      return Class.forName(name)
          .asSubclass(TenantMessageHandler.class)
          .getConstructor()
          .newInstance();
    } catch (ClassNotFoundException missing) {
      throw failure(name, "is not in the function's jar", missing);
    } catch (ClassCastException other) {
      throw failure(name, "does not implement " + TenantMessageHandler.class.getName(), other);
    } catch (NoSuchMethodException | IllegalAccessException | InstantiationException unfit) {
      throw failure(
          name, "is not a public class with a public constructor without parameters", unfit);
    } catch (ReflectiveOperationException | LinkageError failed) {
      throw failure(name, "cannot be instantiated", failed);
    }
  }

  private static IllegalStateException failure(String name, String why, Throwable cause) {
    return new IllegalStateException(
        "Environment variable " + MESSAGE_HANDLER + ": class `" + name + "` " + why + ".", cause);
  }
}
