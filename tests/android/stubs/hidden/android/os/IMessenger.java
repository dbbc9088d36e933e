package android.os;

public interface IMessenger {
    void send(Message message);

    abstract class Stub implements IMessenger {}
}
