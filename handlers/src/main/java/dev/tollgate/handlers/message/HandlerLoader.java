package dev.tollgate.handlers.message;

import dev.tollgate.core.message.Application;
import dev.tollgate.message.TenantMessage;
import dev.tollgate.message.TenantMessageHandler;
import java.util.Map;

/** Creates the application's message handler from the name of its class. */
final class HandlerLoader {
  private static final String MESSAGE_HANDLER = "MESSAGE_HANDLER";

  private HandlerLoader() {}

  /**
   * The application whose handler class the environment variable {@code MESSAGE_HANDLER} names;
   * {@link Echo} by default.
   *
   * @throws IllegalStateException as {@link #load}
   */
  static Application application(Map<String, String> environment) {
    TenantMessageHandler handler =
        load(environment.getOrDefault(MESSAGE_HANDLER, Echo.class.getName()));
    return (message, json) ->
        handler.handle(
            new TenantMessage(
                message.tenant().value(),
                message.session().value(),
                message.connectionId(),
                message.id(),
                json));
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
