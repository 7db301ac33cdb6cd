package dev.tollgate.local.gateway;

import io.undertow.websockets.core.AbstractReceiveListener;
import io.undertow.websockets.core.BufferedBinaryMessage;
import io.undertow.websockets.core.BufferedTextMessage;
import io.undertow.websockets.core.StreamSourceFrameChannel;
import io.undertow.websockets.core.WebSocketChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.function.Consumer;
import org.xnio.Buffers;

/**
 * Receives the frames of a client. A message may have 32 KB in one frame and 128 KB in several. A
 * too large frame among several is not detected.
 */
final class Frames extends AbstractReceiveListener {
  /** "Quotas for configuring and running a WebSocket API". */
  static final int MAX_MESSAGE_BYTES = 128 * 1024;

  private static final int MAX_FRAME_BYTES = 32 * 1024;

  private static final int UNSUPPORTED_DATA = 1003;
  private static final int NO_STATUS = 1005;

  private final Connection connection;
  private final InstantSource clock;
  private final Consumer<String> onMessage;
  private long maxBytes = MAX_FRAME_BYTES;

  /**
   * The frames of a connection.
   *
   * @param onMessage receives the messages, on the thread that reads from the socket
   */
  Frames(Connection connection, InstantSource clock, Consumer<String> onMessage) {
    this.connection = connection;
    this.clock = clock;
    this.onMessage = onMessage;
  }

  @Override
  protected void onText(WebSocketChannel channel, StreamSourceFrameChannel frame)
      throws IOException {
    maxBytes = frame.isFinalFragment() ? MAX_FRAME_BYTES : MAX_MESSAGE_BYTES;
    super.onText(channel, frame);
  }

  @Override
  protected long getMaxTextBufferSize() {
    return maxBytes;
  }

  @Override
  protected long getMaxBinaryBufferSize() {
    return MAX_MESSAGE_BYTES;
  }

  @Override
  protected void onFullTextMessage(WebSocketChannel channel, BufferedTextMessage message) {
    connection.active(clock.instant());
    onMessage.accept(message.getData());
  }

  @Override
  protected void onFullBinaryMessage(WebSocketChannel channel, BufferedBinaryMessage message) {
    message.getData().free();
    var unused = connection.close(UNSUPPORTED_DATA, "Binary frames are not supported");
  }

  @Override
  protected void onFullPingMessage(WebSocketChannel channel, BufferedBinaryMessage message)
      throws IOException {
    connection.active(clock.instant());
    super.onFullPingMessage(channel, message);
  }

  /** Reads the code itself, because Undertow replaces application codes with 1000. */
  @Override
  protected void onFullCloseMessage(WebSocketChannel channel, BufferedBinaryMessage message)
      throws IOException {
    ByteBuffer[] parts = message.getData().getResource();
    ByteBuffer body = ByteBuffer.allocate((int) Buffers.remaining(parts));
    for (ByteBuffer part : parts) {
      body.put(part.duplicate());
    }
    body.flip();
    if (body.remaining() < 2) {
      connection.ended(NO_STATUS, "Client-side close frame status not set");
    } else {
      int code = Short.toUnsignedInt(body.getShort());
      connection.ended(code, StandardCharsets.UTF_8.decode(body).toString());
    }
    super.onFullCloseMessage(channel, message);
  }
}
