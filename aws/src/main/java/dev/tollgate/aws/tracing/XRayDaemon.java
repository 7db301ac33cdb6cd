package dev.tollgate.aws.tracing;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Sends segment documents to the X-Ray daemon, one datagram each. A document that cannot be sent is
 * lost: tracing must not make a request fail. The socket is opened with the first document, because
 * a snapshot of the function (SnapStart) must not contain one.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/xray/latest/devguide/xray-api-sendingdata.html#xray-api-daemon">Sending
 *     segment documents to the X-Ray daemon</a>
 */
final class XRayDaemon implements Consumer<String> {
  private static final String HEADER = "{\"format\": \"json\", \"version\": 1}\n";
  private static final Pattern ADDRESS = Pattern.compile("(.+):(\\d{1,5})");

  private final SocketAddress address;
  private @Nullable DatagramSocket socket;

  /**
   * The daemon at an address.
   *
   * @param address {@code HOST:PORT}, as in {@code AWS_XRAY_DAEMON_ADDRESS}
   * @throws IllegalArgumentException if it is malformed
   */
  XRayDaemon(String address) {
    Matcher parts = ADDRESS.matcher(address);
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "AWS_XRAY_DAEMON_ADDRESS: " + address + " (expected: HOST:PORT)");
    }
    this.address = new InetSocketAddress(parts.group(1), Integer.parseInt(parts.group(2)));
  }

  @Override
  public synchronized void accept(String document) {
    byte[] datagram = (HEADER + document).getBytes(StandardCharsets.UTF_8);
    try {
      DatagramSocket opened = socket;
      if (opened == null) {
        opened = new DatagramSocket();
        socket = opened;
      }
      opened.send(new DatagramPacket(datagram, datagram.length, address));
    } catch (IOException | RuntimeException lost) {
      // The trace lacks this segment.
    }
  }
}
