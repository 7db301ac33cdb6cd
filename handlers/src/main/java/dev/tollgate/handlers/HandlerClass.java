package dev.tollgate.handlers;

import dev.tollgate.message.TenantMessageHandler;

/** Makes the application's handler from the name of its class. */
final class HandlerClass {
  private HandlerClass() {}

  /**
   * A new handler.
   *
   * @throws IllegalStateException if there is no such class, or it cannot be made a handler of
   */
  static TenantMessageHandler make(String name) {
    try {
      return Class.forName(name)
          .asSubclass(TenantMessageHandler.class)
          .getConstructor()
          .newInstance();
    } catch (ClassNotFoundException missing) {
      throw refusal(name, "it is not in the function's jar", missing);
    } catch (ClassCastException other) {
      throw refusal(name, "it does not implement " + TenantMessageHandler.class.getName(), other);
    } catch (NoSuchMethodException | IllegalAccessException | InstantiationException unfit) {
      throw refusal(
          name, "it is no public class with a public constructor without parameters", unfit);
    } catch (ReflectiveOperationException | LinkageError failure) {
      throw refusal(name, "it cannot be made", failure);
    }
  }

  private static IllegalStateException refusal(String name, String why, Throwable cause) {
    return new IllegalStateException("environment: MESSAGE_HANDLER " + name + ": " + why, cause);
  }
}
