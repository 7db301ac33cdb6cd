package dev.tollgate.local.engines;

import java.lang.reflect.Proxy;
import org.elasticmq.LimitedValue;
import org.elasticmq.Limits;
import org.elasticmq.StrictSQSLimits$;

/**
 * The limits of SQS as ElasticMQ knows them, except for one that SQS has raised since: the length
 * of a message.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html">Message
 *     quotas</a>
 */
final class QueueLimits {
  private static final LimitedValue<Integer> MAX_MESSAGE_BYTES = new LimitedValue<>(1024 * 1024);

  /** The limits. */
  static final Limits LIMITS =
      (Limits)
          Proxy.newProxyInstance(
              Limits.class.getClassLoader(),
              new Class<?>[] {Limits.class},
              (proxy, limit, arguments) ->
                  limit.getName().equals("maxMessageLength")
                      ? MAX_MESSAGE_BYTES
                      : limit.invoke(StrictSQSLimits$.MODULE$, arguments));

  private QueueLimits() {}
}
