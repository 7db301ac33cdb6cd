package dev.tollgate.local.lambda.process;

import com.amazonaws.services.lambda.crac.Core;
import com.amazonaws.services.lambda.crac.Resource;
import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Handlers that are put into a jar and run in a JVM of their own. */
public final class ProcessHandlers {

  private ProcessHandlers() {}

  /** Answers what its process was started with, and which hooks of a snapshot have run. */
  public static final class Reporter
      implements RequestHandler<Map<String, Object>, Map<String, Object>>, Resource {
    private final List<String> hooks = new ArrayList<>();

    public Reporter() {
      Core.getGlobalContext().register(this);
    }

    @Override
    public void beforeCheckpoint(
        com.amazonaws.services.lambda.crac.Context<? extends Resource> all) {
      hooks.add("beforeCheckpoint");
    }

    @Override
    public void afterRestore(com.amazonaws.services.lambda.crac.Context<? extends Resource> all) {
      hooks.add("afterRestore");
    }

    @Override
    public Map<String, Object> handleRequest(Map<String, Object> event, Context context) {
      context.getLogger().log("reported");
      return Map.of(
          "event",
          event,
          "environment",
          System.getenv(),
          "hooks",
          hooks,
          "java",
          Runtime.version().feature(),
          "arn",
          context.getInvokedFunctionArn(),
          "remaining",
          context.getRemainingTimeInMillis());
    }
  }

  /** Throws. */
  public static final class Thrower implements RequestHandler<Object, Object> {
    @Override
    public Object handleRequest(Object event, Context context) {
      throw new IllegalArgumentException("event: " + event);
    }
  }

  /** Cannot be constructed by the runtime. */
  public static final class WithoutConstructor implements RequestHandler<Object, Object> {
    public WithoutConstructor(Map<String, String> environment) {
      environment.clear();
    }

    @Override
    public Object handleRequest(Object event, Context context) {
      return event;
    }
  }

  /** Throws when it is constructed. */
  public static final class Broken implements RequestHandler<Object, Object> {
    public Broken() {
      throw new IllegalStateException("a variable is missing");
    }

    @Override
    public Object handleRequest(Object event, Context context) {
      return event;
    }
  }

  /** Throws when it is restored from a snapshot. */
  public static final class BrokenByRestore implements RequestHandler<Object, Object>, Resource {
    public BrokenByRestore() {
      Core.getGlobalContext().register(this);
    }

    @Override
    public void beforeCheckpoint(
        com.amazonaws.services.lambda.crac.Context<? extends Resource> all) {}

    @Override
    public void afterRestore(com.amazonaws.services.lambda.crac.Context<? extends Resource> all) {
      throw new IllegalStateException("the connection is stale");
    }

    @Override
    public Object handleRequest(Object event, Context context) {
      return event;
    }
  }
}
