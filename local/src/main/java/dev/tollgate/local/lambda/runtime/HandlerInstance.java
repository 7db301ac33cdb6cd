package dev.tollgate.local.lambda.runtime;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;

/** A handler in this process. */
record HandlerInstance(RequestStreamHandler handler) implements ExecutionEnvironment {
  @Override
  public byte[] handle(byte[] event, Context context) throws Exception {
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    handler.handleRequest(new ByteArrayInputStream(event), answer, context);
    return answer.toByteArray();
  }

  @Override
  public boolean isAlive() {
    return true;
  }

  @Override
  public void close() {
    // Its classes are closed with the function.
  }
}
