package dev.tollgate.local.lambda.runtime;

import com.amazonaws.lambda.thirdparty.com.fasterxml.jackson.databind.JavaType;
import com.amazonaws.lambda.thirdparty.com.fasterxml.jackson.databind.type.TypeFactory;
import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import com.amazonaws.services.lambda.runtime.serialization.PojoSerializer;
import com.amazonaws.services.lambda.runtime.serialization.events.LambdaEventSerializers;
import com.amazonaws.services.lambda.runtime.serialization.factories.JacksonFactory;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * A handler of objects over the streams of its invocations, with the serializers of the Lambda
 * runtime. This class is loaded with the serializers, separately for each function. They cache
 * types in static fields, so with shared serializers an event class of the same name in a second
 * function would lose members.
 */
public final class ObjectHandler implements RequestStreamHandler {
  private final RequestHandler<Object, Object> handler;
  private final PojoSerializer<Object> in;
  private final PojoSerializer<Object> out;

  /**
   * A handler whose types are the arguments that its class gives to {@link RequestHandler}.
   *
   * @param function loads the classes of the function
   */
  public ObjectHandler(RequestHandler<Object, Object> handler, ClassLoader function) {
    this.handler = handler;
    Class<?> type = handler.getClass();
    TypeFactory factory = TypeFactory.defaultInstance();
    JavaType[] types =
        factory.findTypeParameters(factory.constructType(type), RequestHandler.class);
    if (types.length == 0) {
      throw new ClassCastException(
          "Class "
              + type.getName()
              + " does not implement RequestHandler with concrete type parameters");
    }
    this.in = serializer(types[0], function);
    this.out = serializer(types[1], function);
  }

  @Override
  public void handleRequest(InputStream event, OutputStream answer, Context context) {
    out.toJson(handler.handleRequest(in.fromJson(event), context), answer);
  }

  /**
   * The serializer that the runtime chooses: its own for AWS events, plain Jackson for other types.
   */
  @SuppressWarnings("unchecked") // it is used for values of its type only
  private static PojoSerializer<Object> serializer(JavaType type, ClassLoader function) {
    Class<?> raw = type.getRawClass();
    return LambdaEventSerializers.isLambdaSupportedEvent(raw.getName())
        ? (PojoSerializer<Object>) LambdaEventSerializers.serializerFor(raw, function)
        : JacksonFactory.getInstance().getSerializer(type);
  }
}
